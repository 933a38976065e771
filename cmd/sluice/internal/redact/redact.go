// Package redact keeps the values of secrets out of what people read.
package redact

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// mask stands in the place of a secret.
	mask = "******"
	// cut ends what is shown of a long text, and shortest is the least number of bytes before it.
	cut      = "…"
	shortest = 8
)

// Secrets are values that are not to be shown. The zero value has none. It may be used from any goroutine.
type Secrets struct {
	mu       sync.Mutex
	forms    []string
	replacer *strings.Replacer // of forms; nil without any
}

// Add adds the values of secrets, in each form in which messages write them: as they are, within SQL's and Go's
// quotes, and in JSON.
func (s *Secrets) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		if v == "" {
			continue
		}
		quoted := strconv.Quote(v)
		s.forms = append(s.forms, v, strings.ReplaceAll(v, "'", "''"), quoted[1:len(quoted)-1])
		if b, err := json.Marshal(v); err == nil {
			s.forms = append(s.forms, string(b[1:len(b)-1]))
		}
	}
	// The longest first: a secret may be the beginning of another.
	slices.SortFunc(s.forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, f := range s.forms {
		pairs = append(pairs, f, mask)
	}
	if pairs != nil {
		s.replacer = strings.NewReplacer(pairs...)
	}
}

// Text is text with asterisks in the place of secrets, whole ones and the beginnings of those that were cut short.
func (s *Secrets) Text(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replacer == nil {
		return text
	}
	// Beginnings first: one secret may be the beginning of another.
	parts := strings.Split(text, cut)
	for i, part := range parts[:len(parts)-1] {
		if n := s.begun(part); n > 0 {
			parts[i] = part[:len(part)-n] + mask
		}
	}
	return s.replacer.Replace(strings.Join(parts, cut))
}

// begun is how many bytes at the end of part, which was cut there, a secret begins with.
func (s *Secrets) begun(part string) (most int) {
	for _, f := range s.forms {
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
