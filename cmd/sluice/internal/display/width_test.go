package display

import "testing"

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		s string
		n int
	}{
		{"", 0}, {"abc", 3}, {"é", 1}, {"e\u0301", 1}, {"имя", 3}, {"日本語", 6}, {"ｱ", 1}, {"Ａ", 2},
		{"😀", 2}, {"👩‍👩‍👧", 2}, {"👍🏽", 2}, {"🇩🇪", 2}, {"🇩🇪🇫🇷", 4}, {"❤️", 2}, {"a\u200Bb", 2}, {"한국", 4}, {"…", 1},
	} {
		if got := Width(c.s); got != c.n {
			t.Errorf("Width(%q) = %d, want %d", c.s, got, c.n)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü": "plain ü", "a\x1b[31mb": "a␛[31mb", "a\nb\x7f": "a␊b␡", "\u202Eabc": "abc", "\u0085": "\uFFFD", "a\xffb\x9b": "a\uFFFDb\uFFFD",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"日本語", 6, "日本語"}, {"日本語", 5, "日本…"},
		{"日本語", 4, "日…"}, {"abc", 1, "…"}, {"abc", 0, ""},
	} {
		if got := Cut(c.s, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func TestPad(t *testing.T) {
	if got := string(Pad(nil, "日", 4, false)) + "|" + string(Pad(nil, "42", 4, true)) + "|" + string(Pad(nil, "abc", 2, true)); got != "日  |  42|abc" {
		t.Errorf("got %q", got)
	}
}
