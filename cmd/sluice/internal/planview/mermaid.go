package planview

import (
	"fmt"
	"slices"
	"strings"
)

// mermaid writes a drawing in the language of Mermaid.
func mermaid(d *drawing) []byte {
	var b strings.Builder
	b.WriteString("flowchart TB\n")
	for _, x := range d.boxes {
		var lines []string
		for _, l := range slices.Concat(x.title, x.lines) {
			lines = append(lines, mermaidEscape(l))
		}
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", x.id, strings.Join(lines, "<br/>"))
	}
	for _, a := range d.arrows {
		fmt.Fprintf(&b, "  %s -->|%s| %s\n", d.boxes[a.from].id, a.label, d.boxes[a.to].id)
	}
	return []byte(b.String())
}

// mermaidEscape writes what means something in Mermaid, in HTML, or in the Markdown that Mermaid makes of labels, by
// its number. A %% would begin a comment within quotes, too.
func mermaidEscape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\"#&<>%\\`*_~$", r) {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
