package planview

import (
	"fmt"
	"slices"
	"strings"
)

// dot writes a drawing in the language of Graphviz.
func dot(d *drawing) []byte {
	var b strings.Builder
	b.WriteString("digraph plan {\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n  edge [fontname=\"monospace\", fontsize=9];\n")
	for _, x := range d.boxes {
		fmt.Fprintf(&b, "  %s [label=\"", x.id)
		for _, l := range slices.Concat(x.title, x.lines) {
			b.WriteString(dotEscape.Replace(l) + `\l`) // a line that begins at the left
		}
		b.WriteString("\"];\n")
	}
	for _, a := range d.arrows {
		fmt.Fprintf(&b, "  %s -> %s [label=\"%s\"];\n", d.boxes[a.from].id, d.boxes[a.to].id, a.label)
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// dotEscape also writes the & of what Graphviz would take for an HTML entity.
var dotEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)
