package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A generated section stands between two comments, which Markdown does not show.
// What stands outside is written by people and left alone.
func beginMarker(name string) string { return "<!-- make bench: " + name + " -->" }
func endMarker(name string) string   { return "<!-- make bench: end of " + name + " -->" }

// newDocument is what a document starts as.
const newDocument = "# Performance\n\nThe tables are written by `make bench`.\n"

// writeInto replaces the measured sections in a document, and in reliability.md beside it, and leaves the others.
func (r *report) writeInto(doc string) error {
	var here, there []section
	for _, s := range r.sections() {
		if s.name == reliabilityName {
			there = append(there, s)
		} else {
			here = append(here, s)
		}
	}
	return firstError(replaceSections(doc, here), replaceSections(filepath.Join(filepath.Dir(doc), "reliability.md"), there))
}

func replaceSections(doc string, sections []section) error {
	if len(sections) == 0 {
		return nil
	}
	text, err := os.ReadFile(doc)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte(newDocument), os.MkdirAll(filepath.Dir(doc), 0o755)
	}
	if err != nil {
		return err
	}
	out := string(text)
	for _, s := range sections {
		if out, err = replaceSection(out, s); err != nil {
			return fmt.Errorf("%s: %w", doc, err)
		}
	}
	return os.WriteFile(doc, []byte(out), 0o644)
}

// replaceSection puts s between its markers; a document without them gets them at
// its end, under a heading.
func replaceSection(doc string, s section) (string, error) {
	begin, end := beginMarker(s.name), endMarker(s.name)
	generated := begin + "\n" + strings.TrimSpace(s.text) + "\n" + end
	before, rest, found := strings.Cut(doc, begin)
	if !found {
		return fmt.Sprintf("%s\n\n## %s\n\n%s\n", strings.TrimRight(doc, "\n"), strings.ToUpper(s.name[:1])+s.name[1:], generated), nil
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("%q is missing after %q", end, begin)
	}
	return before + generated + after, nil
}
