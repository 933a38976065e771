package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	unlink  = regexp.MustCompile("[^a-z0-9 _-]")
)

// anchors are those of a page's headings, as they are made on GitHub.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		name := unlink.ReplaceAllString(strings.ToLower(m[1]), "")
		out[strings.ReplaceAll(name, " ", "-")] = true
	}
	return out
}

// Every link of a page leads to a file, and to a heading where it names one.
func TestLinks(t *testing.T) {
	root := repository(t)
	checked := 0
	for _, name := range pagesOf(t, append([]string{"CONTRIBUTING.md", "docs/decisions/*.md"}, docs...)...) {
		page := filepath.Join(root, name)
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(read(t, page)), ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			checked++
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), file)
			}
			target, err := os.ReadFile(to)
			if info, serr := os.Stat(to); err != nil && (serr != nil || !info.IsDir()) {
				t.Errorf("%s: the link %s leads nowhere", name, m[1])
				continue
			}
			if anchor != "" && !anchors(string(target))[anchor] {
				t.Errorf("%s: the link %s names no heading of %s", name, m[1], filepath.Base(to))
			}
		}
	}
	if checked == 0 {
		t.Error("no page has a link")
	}
}

// Every page can be come to from the index of docs/, and every example from that of examples/.
func TestIndex(t *testing.T) {
	for index, pages := range map[string][]string{
		"docs/README.md":     pagesOf(t, "docs/*.md", "docs/howto/*.md"),
		"examples/README.md": pagesOf(t, "examples/*/sluice.yaml"),
	} {
		folder := filepath.Dir(index)
		text := string(read(t, filepath.Join(repository(t), index)))
		for _, page := range pages {
			name := strings.TrimSuffix(strings.TrimPrefix(page, folder+"/"), "/sluice.yaml")
			if page != index && !strings.Contains(text, "]("+name+")") {
				t.Errorf("%s has no link to %s", index, name)
			}
		}
	}
}
