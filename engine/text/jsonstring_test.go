package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzJSONString holds strings written to what encoding/json reads back.
func FuzzJSONString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c", "\x00\x1f\x7f", "é€😀", "\xff", "12345678\n", "\u2028"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		got := AppendJSONString(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil || !utf8.Valid(got) {
			t.Fatalf("%q: %v", got, err)
		}
		if want := strings.ToValidUTF8(string(s), "\ufffd"); utf8.Valid(s) && back != want {
			t.Fatalf("%q became %q", s, back)
		}
		if want := fmt.Sprint([]rune(string(s))); fmt.Sprint([]rune(back)) != want {
			t.Fatalf("%q became %q", s, back)
		}
	})
}
