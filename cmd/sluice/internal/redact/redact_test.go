package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A secret is found in each form in which messages write texts, and where they cut it short.
func TestText(t *testing.T) {
	const word, key = "it's \"a\\b\"\n<é>", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"
	var s Secrets
	s.Add(word, "", key, key+"-and-more", "with dots … in it")
	inJSON, err := json.Marshal(word)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"no secret, it's a", "no secret, it's a"},
		{word + "!", "******!"},
		{"'" + strings.ReplaceAll(word, "'", "''") + "'", "'******'"},
		{fmt.Sprintf("%q", word), `"******"`},
		{string(inJSON), `"******"`},
		{key + " " + key + "-and-more", "****** ******"},
		{"found '" + key[:20] + "…', " + key[:8] + "… and " + key[:7] + "…", "found '******…', ******… and " + key[:7] + "…"},
		{"with dots … in it", "******"},
		{"found 'it''s \"a\\b\" <é>'", "found '******'"},
		{"found '" + key + "-and…'", "found '******…'"},
	} {
		if got := s.Text(c.text); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
	if got := new(Secrets).Text(word + "…"); got != word+"…" {
		t.Errorf("without secrets: %s", got)
	}
}

// What is written is counted as it was given, whatever its length is afterwards.
func TestWriter(t *testing.T) {
	var s Secrets
	s.Add("geheim")
	var b strings.Builder
	if n, err := s.Writer(&b).Write([]byte("a geheim b")); n != len("a geheim b") || err != nil || b.String() != "a ****** b" {
		t.Errorf("%d bytes, %v: %s", n, err, b.String())
	}
}
