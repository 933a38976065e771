// Package planview writes plans for people and tools, in the forms that sluice explain knows.
package planview

import (
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/planner"
)

// Format is a form in which plans are written.
type Format string

// The forms: a text tree, JSON (see planner.Explanation), and drawings for Graphviz, for Mermaid and for browsers.
const (
	Text    Format = "text"
	JSON    Format = "json"
	DOT     Format = "dot"
	Mermaid Format = "mermaid"
	SVG     Format = "svg"
)

// Formats are the names of all forms.
func Formats() []string {
	return []string{string(Text), string(JSON), string(DOT), string(Mermaid), string(SVG)}
}

// Write writes the plans of jobs as one document.
func (f Format) Write(jobs []*planner.Explanation) ([]byte, error) {
	switch f {
	case JSON:
		return planner.ExplanationJSON(jobs)
	case DOT:
		return dot(drawingOf(jobs)), nil
	case Mermaid:
		return mermaid(drawingOf(jobs)), nil
	case SVG:
		return svg(drawingOf(jobs)), nil
	}
	var texts []string
	for _, e := range jobs {
		texts = append(texts, e.Text())
	}
	return []byte(strings.Join(texts, "\n")), nil
}

// drawing is what is drawn: boxes and arrows, in the direction in which changes flow.
type drawing struct {
	boxes  []box
	arrows []arrow
}

// box is a node of a plan.
type box struct {
	id    string
	kind  string
	keeps bool // it has state
	title []string
	lines []string
}

// arrow goes from one box to another, by their numbers.
type arrow struct {
	from, to int
	label    string // the mode of the changes that flow there
}

// maxLine is the most cells that a line in a box has.
const maxLine = 56

// drawingOf makes one drawing of the plans of several jobs.
func drawingOf(jobs []*planner.Explanation) *drawing {
	d := &drawing{}
	for j, e := range jobs {
		at, changes := map[int]int{}, map[int]string{}
		for _, n := range e.Nodes {
			b := box{id: fmt.Sprintf("n%d", n.ID), kind: n.Kind, keeps: len(n.State) > 0, title: wrap(fmt.Sprintf("#%d %s", n.ID, n.Title))}
			if len(jobs) > 1 {
				b.id = fmt.Sprintf("j%dn%d", j+1, n.ID)
			}
			for _, l := range n.Lines() {
				b.lines = append(b.lines, wrap(l)...)
			}
			at[n.ID], changes[n.ID] = len(d.boxes), n.Changes
			for _, in := range n.Inputs {
				d.arrows = append(d.arrows, arrow{at[in], len(d.boxes), changes[in]})
			}
			d.boxes = append(d.boxes, b)
		}
	}
	return d
}

// wrap divides a line into lines of at most maxLine cells, at blanks where there are some. Those that follow the first
// are indented.
func wrap(text string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(display.Clean(text)) {
		switch {
		case line == "":
			line = word
		case display.Width(line)+1+display.Width(word) > maxLine:
			lines = append(lines, line)
			line = "  " + word
		default:
			line += " " + word
		}
		for display.Width(line) > maxLine {
			head := strings.TrimSuffix(display.Cut(line, maxLine+1), "…")
			lines = append(lines, head)
			line = "  " + strings.TrimPrefix(line, head)
		}
	}
	return append(lines, line)
}
