package sqltest

import (
	"reflect"
	"strings"
	"testing"
)

// script is a file of tests in which every form of line occurs.
const script = `# A comment.
set parallelism.default=1

push t
c 1, 'a '
c 2, b

changes t
----
+I[1, a ]

test second

records
{"topic": "t", "value": "x"}

table t

state
----
`

// steps are what a file's tests do, without places.
func steps(t *testing.T, text string) (f *File, out []string) {
	t.Helper()
	f, err := Parse("a.test", text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for _, c := range f.Cases {
		out = append(out, c.Name)
		for _, d := range c.directives {
			out = append(out, strings.Join(append([]string{d.name}, d.args...), " "))
			out = append(append(append(out, d.input...), separator), d.expected...)
		}
	}
	return f, out
}

// A file means the same with the line ends and the byte order mark of any editor, with and without a last line end, and
// keeps them when its expectations are written.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]func(string) string{
		"LF":                  func(s string) string { return s },
		"CRLF":                func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"CRLF with a mark":    func(s string) string { return byteOrderMark + strings.ReplaceAll(s, "\n", "\r\n") },
		"LF with a mark":      func(s string) string { return byteOrderMark + s },
		"CRLF, no last end":   func(s string) string { return strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\r\n") },
		"LF, no last end":     func(s string) string { return strings.TrimSuffix(s, "\n") },
		"CRLF on some lines":  func(s string) string { return strings.Replace(s, "\n", "\r\n", 3) },
		"no separator at end": func(s string) string { return strings.ReplaceAll(strings.TrimSuffix(s, "\n----\n"), "\n", "\r\n") },
	} {
		_, want := steps(t, script)
		f, got := steps(t, form(script))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		for _, c := range f.Cases {
			for _, d := range c.directives {
				if at := f.Text[d.pos.Offset:]; !strings.HasPrefix(at, d.name) {
					t.Errorf("%s: the directive %s is said to be at %q", name, d.name, at)
				}
				if kinds[d.name].shows {
					d.expected, d.wants = append(d.expected, "[new]"), true
				}
			}
		}
		updated := f.Updated()
		ends := strings.Count(updated, "\n")
		if crlf := strings.Count(updated, "\r\n"); strings.HasPrefix(name, "LF") && crlf > 0 || strings.HasPrefix(name, "CRLF ") && name != "CRLF on some lines" && crlf != ends {
			t.Errorf("%s: updated to %q", name, updated)
		}
		if strings.HasPrefix(updated, byteOrderMark) != strings.HasPrefix(f.Text, byteOrderMark) {
			t.Errorf("%s: the mark was not kept", name)
		}
		again, _ := steps(t, updated)
		if again.Updated() != updated {
			t.Errorf("%s: updated to %q, which is %q when read again", name, updated, again.Updated())
		}
		if n := strings.Count(updated, "[new]"); n != 3 {
			t.Errorf("%s: %d expectations were written in %q", name, n, updated)
		}
	}
}
