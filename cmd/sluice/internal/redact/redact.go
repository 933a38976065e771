// Package redact keeps the values of secrets out of what people read.
package redact

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sluicesql/sluice/internal/secret"
)

const (
	// cut ends what is shown of a long text, and shortest is the least number of bytes before it.
	cut      = "…"
	shortest = 8
)

// Secrets are values that are not to be shown. The zero value has none. It may be used from any goroutine.
type Secrets struct {
	mu       sync.Mutex
	forms    []form
	replacer *strings.Replacer // of forms; nil without any
}

// form is a text in a form in which messages write it, and what is shown of it.
type form struct{ text, shown string }

// Add adds the values of secrets.
func (s *Secrets) Add(values ...string) {
	for _, v := range values {
		s.Replace(v, secret.Mask)
	}
}

// Replace adds a value that holds secrets and what is shown of it, in each form in which messages write them: as they
// are or on one line, within SQL's quotes, Go's, or JSON's.
func (s *Secrets) Replace(value, shown string) {
	if strings.TrimSpace(value) == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of, as := forms(value), forms(shown)
	for i := range of {
		s.forms = append(s.forms, form{of[i], as[i]})
	}
	// The longest first: a secret may be the beginning of another.
	slices.SortFunc(s.forms, func(a, b form) int { return len(b.text) - len(a.text) })
	var pairs []string
	for _, f := range s.forms {
		pairs = append(pairs, f.text, f.shown)
	}
	s.replacer = strings.NewReplacer(pairs...)
}

// forms are the forms in which messages write v.
func forms(v string) []string {
	quoted := strconv.Quote(v)
	inJSON, err := json.Marshal(v)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	line := strings.Join(strings.Fields(v), " ")
	return []string{v, strings.ReplaceAll(v, "'", "''"), line, strings.ReplaceAll(line, "'", "''"), quoted[1 : len(quoted)-1], string(inJSON[1 : len(inJSON)-1])}
}

// Text is what is shown of a text that is no row of a table: with asterisks in the place of secrets, whole ones and the
// beginnings of those that were cut short, and of passwords within addresses, whoever wrote them.
func (s *Secrets) Text(text string) string { return secret.Text(s.Row(text)) }

// Row is what is shown of rows: they are as they are, but for the secrets themselves.
func (s *Secrets) Row(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replacer == nil {
		return text
	}
	// Beginnings first: one secret may be the beginning of another.
	parts := strings.Split(text, cut)
	for i, part := range parts[:len(parts)-1] {
		if n := s.begun(part); n > 0 {
			parts[i] = part[:len(part)-n] + secret.Mask
		}
	}
	return s.replacer.Replace(strings.Join(parts, cut))
}

// begun is how many bytes at the end of part, which was cut there, a secret begins with.
func (s *Secrets) begun(part string) (most int) {
	for i := range s.forms {
		f := s.forms[i].text
		for n := min(len(f), len(part)); n >= shortest && n > most; n-- {
			if strings.HasSuffix(part, f[:n]) && !strings.HasPrefix(f[n:], cut) {
				most = n
			}
		}
	}
	return most
}

// Writer passes on to w what is written to it, without secrets. Each Write is a message by itself.
func (s *Secrets) Writer(w io.Writer) io.Writer { return writer{s, w} }

type writer struct {
	secrets *Secrets
	w       io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.secrets.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
