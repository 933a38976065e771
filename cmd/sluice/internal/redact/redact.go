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

// mask stands in the place of a secret.
const mask = "******"

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

// Text is text with asterisks in the place of secrets.
func (s *Secrets) Text(text string) string {
	s.mu.Lock()
	r := s.replacer
	s.mu.Unlock()
	if r == nil {
		return text
	}
	return r.Replace(text)
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
