package planview

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/planner"
)

// texts are what may stand in a plan, and means something in one of the forms.
var texts = []string{
	"Scan users (kafka)", `keeps: a <> '"quoted" \ & <b> %% {x}'`, "columns: `a` BIGINT, *b* STRING, _c_ INT, ~d~", "#1; end", "日本語の列 STRING", "\x00\x1b[31m\n\tcontrol",
	"]]>", "", "a-->b", "&lt; &#60;", "$$x$$", strings.Repeat("long", 40), "why: " + strings.Repeat("many words ", 30),
}

// randomPlan has nodes that read random earlier ones, some of them twice.
func randomPlan(rng *rand.Rand) *planner.Explanation {
	e := &planner.Explanation{}
	read := map[int]bool{}
	for i := range 1 + rng.IntN(25) {
		n := &planner.ExplainedNode{
			ID: i + 1, Kind: []string{"scan", "exchange", "join"}[rng.IntN(3)], Title: texts[rng.IntN(len(texts))], Changes: "retract",
			Details: []string{texts[rng.IntN(len(texts))], texts[rng.IntN(len(texts))]},
			Columns: []planner.ExplainedColumn{{Name: texts[rng.IntN(len(texts))], Type: "BIGINT"}},
		}
		for range rng.IntN(4) {
			if i > 0 {
				in := max(1, i-rng.IntN(6))
				n.Inputs, read[in] = append(n.Inputs, in), true
			}
		}
		e.Nodes = append(e.Nodes, n)
	}
	for _, n := range e.Nodes {
		if !read[n.ID] {
			e.Roots = append(e.Roots, n.ID)
		}
	}
	return e
}

func randomDrawing(rng *rand.Rand) *drawing {
	jobs := []*planner.Explanation{randomPlan(rng)}
	if rng.IntN(3) == 0 {
		jobs = append(jobs, randomPlan(rng))
	}
	return drawingOf(jobs)
}

// No box covers another, no arrow crosses a box, every arrow goes down from what is read to what reads.
func TestLayout(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := randomDrawing(rng)
		var widths, heights []float64
		for range d.boxes {
			widths, heights = append(widths, 10+rng.Float64()*400), append(heights, 10+rng.Float64()*200)
		}
		l := layOut(widths, heights, d.arrows)
		var boxes []*spot
		for _, layer := range l.layers {
			for _, s := range layer {
				if s.box >= 0 {
					boxes = append(boxes, s)
				}
			}
		}
		if len(boxes) != len(d.boxes) || len(l.paths) != len(d.arrows) {
			t.Fatalf("seed %d: %d of %d boxes and %d of %d arrows are drawn", seed, len(boxes), len(d.boxes), len(l.paths), len(d.arrows))
		}
		for i, a := range boxes {
			if a.x-a.width/2 < -0.01 || a.x+a.width/2 > l.width+0.01 || a.y < 0 || a.y+a.height > l.height+0.01 {
				t.Errorf("seed %d: box %d lies outside of the picture", seed, a.box)
			}
			for _, b := range boxes[:i] {
				if max(a.x-a.width/2, b.x-b.width/2) < min(a.x+a.width/2, b.x+b.width/2) && max(a.y, b.y) < min(a.y+a.height, b.y+b.height) {
					t.Errorf("seed %d: boxes %d and %d overlap", seed, a.box, b.box)
				}
			}
		}
		for i, path := range l.paths {
			if path[0].box != d.arrows[i].from || path[len(path)-1].box != d.arrows[i].to {
				t.Errorf("seed %d: arrow %d joins other boxes than it is to", seed, i)
			}
			checkPath(t, seed, path, boxes)
		}
	}
}

// checkPath holds a path to going down and past all boxes but those at its ends.
func checkPath(t *testing.T, seed uint64, path, boxes []*spot) {
	points := pathPoints(path)
	for i := 1; i < len(points); i++ {
		p, q := points[i-1], points[i]
		if q.y < p.y {
			t.Errorf("seed %d: the arrow from %d goes up", seed, path[0].box)
		}
		for _, b := range boxes {
			for k := range 21 { // points between
				f := float64(k) / 20
				x, y := p.x+(q.x-p.x)*f, p.y+(q.y-p.y)*f
				if x > b.x-b.width/2 && x < b.x+b.width/2 && y > b.y+0.01 && y < b.y+b.height-0.01 {
					t.Fatalf("seed %d: the arrow from %d to %d crosses %d", seed, path[0].box, path[len(path)-1].box, b.box)
				}
			}
		}
	}
}

// A picture is well-formed XML, whatever the plan's texts, and its boxes hold their texts.
func TestSVG(t *testing.T) {
	for seed := range uint64(100) {
		d := randomDrawing(rand.New(rand.NewPCG(seed, 2)))
		picture := svg(d)
		dec := xml.NewDecoder(strings.NewReader(string(picture)))
		rects, shown := 0, ""
		right, bottom, text := 0.0, 0.0, 0.0 // of the box, and where the text begins
		for {
			tok, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, picture)
			}
			switch e := tok.(type) {
			case xml.StartElement:
				at := func(name string) float64 {
					for _, a := range e.Attr {
						if a.Name.Local == name {
							f, _ := strconv.ParseFloat(a.Value, 64)
							return f
						}
					}
					return 0
				}
				if e.Name.Local == "rect" {
					rects++
					right, bottom = at("x")+at("width"), at("y")+at("height")
				} else if e.Name.Local == "text" && rects > 0 {
					text = at("x")
					if at("y") > bottom {
						t.Errorf("seed %d: a text lies below its box", seed)
					}
				}
			case xml.CharData:
				shown += string(e)
				if end := text + float64(display.Width(string(e)))*cellWidth; rects > 0 && string(e) != "\n" && end > right {
					t.Errorf("seed %d: %q ends at %.1f and its box at %.1f", seed, e, end, right)
				}
			}
		}
		if rects != len(d.boxes) || right == 0 {
			t.Errorf("seed %d: %d boxes, not %d", seed, rects, len(d.boxes))
		}
		for _, b := range d.boxes {
			for _, l := range slices.Concat(b.title, b.lines) {
				if !strings.Contains(shown, l) {
					t.Errorf("seed %d: %q is not shown", seed, l)
				}
			}
		}
	}
}

var (
	dotLine     = regexp.MustCompile(`^  (\w+ \[label="(?:[^"\\&]|\\[\\"l]|&amp;)*"\];|\w+ -> \w+ \[label="[\w-]+"\];|(?:node|edge) \[.*\];)$`)
	mermaidLine = regexp.MustCompile("^  (\\w+\\[\"(?:[^\"#<>%\\\\`*_~$&]|#\\d+;|<br/>)*\"\\]|\\w+ -->\\|[\\w-]+\\| \\w+)$")
)

// Whatever the plan's texts are, nothing of them ends a label or a line of the other languages, or means something there.
func TestEscapes(t *testing.T) {
	for seed := range uint64(100) {
		d := randomDrawing(rand.New(rand.NewPCG(seed, 3)))
		for _, f := range []struct {
			text  string
			line  *regexp.Regexp
			extra int
		}{{string(dot(d)), dotLine, 4}, {string(mermaid(d)), mermaidLine, 1}} {
			lines := strings.Split(strings.TrimSuffix(f.text, "\n"), "\n")
			if len(lines) != len(d.boxes)+len(d.arrows)+f.extra {
				t.Errorf("seed %d: %d lines\n%s", seed, len(lines), f.text)
			}
			for _, l := range lines[1:] {
				if l != "}" && !f.line.MatchString(l) {
					t.Errorf("seed %d: %s", seed, l)
				}
			}
		}
	}
}

func TestWrap(t *testing.T) {
	for _, text := range texts {
		lines := wrap(text)
		joined := ""
		for _, l := range lines {
			if display.Width(l) > maxLine {
				t.Errorf("%q has a line of %d cells", text, display.Width(l))
			}
			joined += strings.ReplaceAll(l, " ", "")
		}
		if want := strings.Join(strings.Fields(display.Clean(text)), ""); joined != want {
			t.Errorf("%q became %q", want, joined)
		}
	}
}
