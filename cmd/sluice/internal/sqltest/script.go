package sqltest

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// Extension is that of files of tests.
const Extension = ".test"

// separator stands between what a directive is given and what it is to show.
const separator = "----"

// byteOrderMark begins the files of some editors.
const byteOrderMark = "\uFEFF"

// File is a file of tests.
type File struct {
	Path, Text string
	Cases      []*Case
}

// Case is one test: it has a broker and jobs of its own.
type Case struct {
	// Name is the file's name without its extension, with a name given by the directive test behind a slash.
	Name       string
	directives []*directive
}

// directive is one step of a test.
type directive struct {
	name string
	args []string
	pos  ast.Pos
	// input are the lines below the directive, the first of which has number inputLine.
	input     []string
	inputLine int
	// wants says that there is a separator; expected are the lines below it, which take the lines from expectedLine
	// on, and are sorted nowhere.
	wants        bool
	expected     []string
	expectedLine int
	had          int   // the number of lines expected in the file
	offsets      []int // of the file's lines
}

// kinds are the directives: what they take and show.
var kinds = map[string]struct {
	args, most int // words after the name, at least and at most
	usage      string
	input      bool // lines are handed over
	shows      bool // lines are expected
}{
	"test":    {1, 1, "test NAME", false, false},
	"set":     {1, 1, "set KEY=VALUE", false, false},
	"set-var": {1, 1, "set-var NAME=VALUE", false, false},
	"push":    {1, 1, "push TABLE, and below it an event a line", true, false},
	"records": {0, 0, "records, and below it a record a line, in JSON", true, false},
	"load":    {1, 2, "load FILE [FIRST-LAST]", false, false},
	"restart": {0, 0, "restart", false, false},
	"crash":   {0, 0, "crash", false, false},
	"changes": {1, 1, "changes TABLE", false, true},
	"table":   {1, 1, "table TABLE", false, true},
	"state":   {0, 0, "state", false, true},
	"error":   {0, 0, "error", false, true},
}

// Parse reads a file of tests. The error is an ast.ErrorList of all that is wrong.
func Parse(path, text string) (*File, error) {
	f := &File{Path: path, Text: text}
	base := strings.TrimSuffix(filepath.Base(path), Extension)
	var errs ast.ErrorList
	c := &Case{Name: base}
	if !utf8.ValidString(text) {
		return f, ast.ErrorList{{Pos: ast.Pos{File: path, Line: 1, Col: 1}, Msg: "the file is not UTF-8", Code: fault.Test}}
	}
	lines := strings.Split(text, "\n")
	offsets := make([]int, len(lines))
	for i, l := range lines {
		if i+1 < len(lines) {
			offsets[i+1] = offsets[i] + len(l) + 1
		}
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	if l, ok := strings.CutPrefix(lines[0], byteOrderMark); ok {
		lines[0], offsets[0] = l, len(byteOrderMark)
	}
	for n := 0; n < len(lines); {
		words := strings.Fields(lines[n])
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			n++
			continue
		}
		d := &directive{name: words[0], args: words[1:], pos: ast.Pos{File: path, Line: n + 1, Col: 1, Offset: offsets[n]}, offsets: offsets}
		n++
		d.inputLine = n + 1
		for n < len(lines) && strings.TrimSpace(lines[n]) != "" && lines[n] != separator {
			d.input = append(d.input, lines[n])
			n++
		}
		if n < len(lines) && lines[n] == separator {
			d.wants = true
			n++
			d.expectedLine = n + 1
			for n < len(lines) && strings.TrimSpace(lines[n]) != "" {
				d.expected = append(d.expected, strings.TrimRight(lines[n], " "))
				n++
			}
		}
		d.had = len(d.expected)
		if err := d.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		if d.name == "test" {
			if len(c.directives) > 0 {
				f.Cases = append(f.Cases, c)
			}
			c = &Case{Name: base + "/" + d.args[0]}
			continue
		}
		c.directives = append(c.directives, d)
	}
	f.Cases = append(f.Cases, c)
	names := map[string]bool{}
	for _, c := range f.Cases {
		if names[c.Name] {
			errs = append(errs, &ast.Error{Pos: ast.Pos{File: path, Line: 1, Col: 1}, Msg: fmt.Sprintf("two tests are called %s", c.Name), Code: fault.Test})
		}
		names[c.Name] = true
	}
	return f, errs.Err()
}

// check refuses a directive of the wrong form.
func (d *directive) check() *ast.Error {
	k, ok := kinds[d.name]
	if !ok {
		e := &ast.Error{Pos: d.pos, Msg: fmt.Sprintf("unknown directive %q", d.name), Code: fault.Test}
		if n := near.Name(d.name, directiveNames); n != "" {
			e.Hint = "did you mean " + n + "?"
		} else {
			e.Hint = "there are " + strings.Join(directiveNames, ", ")
		}
		return e
	}
	switch {
	case len(d.args) < k.args || len(d.args) > k.most:
		return &ast.Error{Pos: d.pos, Msg: d.name + ": write " + k.usage, Code: fault.Test}
	case len(d.input) > 0 && !k.input:
		return &ast.Error{Pos: d.at(d.inputLine), Msg: d.name + " takes no lines", Hint: "leave an empty line between directives; what is to be shown goes below " + separator, Code: fault.Test}
	case len(d.input) == 0 && k.input:
		return &ast.Error{Pos: d.pos, Msg: d.name + ": write " + k.usage, Code: fault.Test}
	case d.wants && !k.shows:
		return &ast.Error{Pos: d.pos, Msg: d.name + " shows nothing", Hint: "leave " + separator + " out", Code: fault.Test}
	}
	return nil
}

// directiveNames are the directives in the order of the reference.
var directiveNames = []string{"test", "set", "set-var", "push", "records", "load", "restart", "crash", "changes", "table", "state", "error"}

// at is the place of a line of the directive's file.
func (d *directive) at(line int) ast.Pos {
	return ast.Pos{File: d.pos.File, Line: line, Col: 1, Offset: d.offsets[line-1]}
}
