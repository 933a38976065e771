package planview

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
)

// Sizes in pixels. A cell is as wide as those of the widest usual fixed-width font.
const (
	fontSize   = 11
	cellWidth  = 6.7
	lineHeight = 15
	padding    = 8
	margin     = 10
)

// svg draws a drawing as a picture for browsers, which needs nothing but itself.
func svg(d *drawing) []byte {
	widths, heights := make([]float64, len(d.boxes)), make([]float64, len(d.boxes))
	for i, x := range d.boxes {
		lines := slices.Concat(x.title, x.lines)
		for _, l := range lines {
			widths[i] = max(widths[i], math.Ceil(float64(display.Width(l))*cellWidth)+2*padding)
		}
		heights[i] = float64(len(lines)*lineHeight + 2*padding)
	}
	l := layOut(widths, heights, d.arrows)
	var b bytes.Buffer
	w, h := math.Ceil(l.width)+2*margin, math.Ceil(l.height)+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="%d %d %.0f %.0f" font-family="monospace" font-size="%d">`+"\n",
		w, h, -margin, -margin, w, h, fontSize)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>` + "\n")
	for i, a := range d.arrows {
		writeArrow(&b, l.paths[i], a.label)
	}
	for _, layer := range l.layers {
		for _, s := range layer {
			if s.box >= 0 {
				writeBox(&b, s, &d.boxes[s.box])
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// point is a place in the picture.
type point struct{ x, y float64 }

// pathPoints are the corners of an arrow: it leaves its column below each layer, where nothing is in the way.
func pathPoints(path []*spot) []point {
	var points []point
	for i, s := range path {
		if i > 0 {
			points = append(points, point{s.x, s.y})
		}
		if i < len(path)-1 {
			points = append(points, point{s.x, s.y + s.height}, point{s.x, s.floor})
		}
	}
	return points
}

// writeArrow draws an arrow with its label at the end.
func writeArrow(b *bytes.Buffer, path []*spot, label string) {
	var points []string
	for _, p := range slices.Compact(pathPoints(path)) {
		points = append(points, fmt.Sprintf("%.1f,%.1f", p.x, p.y))
	}
	last := path[len(path)-1]
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="#555" marker-end="url(#tip)"/>`+"\n", strings.Join(points, " "))
	from := path[len(path)-2]
	// A third of the last gap back from the tip.
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="#555" font-size="%d">%s</text>`+"\n",
		last.x+(from.x-last.x)/3+5, last.y-gapDown/3, fontSize-1, xmlText(label))
}

// fills are the colours of boxes: those with state, and those at the ends, stand out.
var fills = map[string]string{"scan": "#e3f1fb", "values": "#e3f1fb", "sink": "#e6f5e1", "exchange": "#f2f2f2"}

func writeBox(b *bytes.Buffer, s *spot, x *box) {
	fill := "#ffffff"
	switch {
	case x.keeps:
		fill = "#fdf1d8"
	case fills[x.kind] != "":
		fill = fills[x.kind]
	}
	left := s.x - s.width/2
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4" fill="%s" stroke="#333"/>`+"\n", left, s.y, s.width, s.height, fill)
	y := s.y + padding
	line := func(text, style string) {
		y += lineHeight
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" xml:space="preserve"%s>%s</text>`+"\n", left+padding, y-4, style, xmlText(text))
	}
	for _, l := range x.title {
		line(l, ` font-weight="bold"`)
	}
	for _, l := range x.lines {
		line(l, "")
	}
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
