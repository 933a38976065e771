package expr

import (
	"regexp"
	"strings"
	"testing"
)

func TestStrings(t *testing.T) {
	for _, c := range []struct {
		want string
		name string
		args []any
	}{
		{"", "UPPER", []any{""}}, {"ΑΒΣ", "UPPER", []any{"αβς"}}, {"FFI", "UPPER", []any{"ﬃ"}}, {"i̇x", "LOWER", []any{"İX"}},
		{"привет", "LOWER", []any{"ПРИВЕТ"}}, {"σ σα", "LOWER", []any{"Σ ΣΑ"}}, {"Đuro 1ab", "INITCAP", []any{"đURO 1AB"}},
		{"", "SUBSTRING", []any{"", 1}}, {"abc", "SUBSTRING", []any{"abc", 0}}, {"", "SUBSTRING", []any{"abc", -4}}, {"c", "SUBSTRING", []any{"abc", -1, 5}},
		{"", "SUBSTRING", []any{"abc", 1, 0}}, {"👍", "SUBSTRING", []any{"a👍b", 2, 1}}, {"abc", "SUBSTRING", []any{"abc", 1, int64(1) << 40}},
		{"", "LEFT", []any{"abc", 0}}, {"abc", "LEFT", []any{"abc", 9}}, {"", "RIGHT", []any{"abc", 0}}, {"👍b", "RIGHT", []any{"a👍b", 2}},
		{"2", "POSITION", []any{"👍", "a👍b"}}, {"3", "INSTR", []any{"a👍b", "b"}}, {"0", "LOCATE", []any{"a", "a", 0}}, {"1", "LOCATE", []any{"", "a", 1}},
		{"b", "REPLACE", []any{"aab", "a", ""}}, {"bbb", "REPLACE", []any{"aaa", "a", "b"}}, {"abxyz", "OVERLAY", []any{"abc", "xyz", 3}},
		{"abc", "OVERLAY", []any{"abc", "x", 0}}, {"abc", "OVERLAY", []any{"abc", "x", 9}}, {"ax", "OVERLAY", []any{"abc", "x", 2, -1}}, {"axbc", "OVERLAY", []any{"abc", "x", 2, 0}},
		{"xyxhi", "LPAD", []any{"hi", 5, "xy"}}, {"", "LPAD", []any{"hi", 0, "x"}}, {"NULL", "LPAD", []any{"hi", -1, "x"}}, {"👍👍a", "LPAD", []any{"a", 3, "👍"}},
		{"hi", "RPAD", []any{"hi", 2, "x"}}, {"h", "RPAD", []any{"hi", 1, "x"}}, {"error: too long", "RPAD", []any{"a", int64(1) << 40, "x"}}, {"error: too long", "REPEAT", []any{"ab", int64(1) << 60}},
		{"", "SPLIT_INDEX", []any{"a,", ",", 1}}, {"NULL", "SPLIT_INDEX", []any{"", ",", 0}}, {"NULL", "SPLIT_INDEX", []any{"a", ",", -1}}, {"b", "SPLIT_INDEX", []any{"a||b", "||", 1}},
		{"\x00", "CHR", []any{256}}, {"ÿ", "CHR", []any{255}}, {"", "CHR", []any{-1}}, {"208", "ASCII", []any{"П"}},
		{"", "TRIM", []any{"   "}}, {"\ta", "TRIM", []any{" \ta "}}, {"b", "TRIM", []any{"BOTH", "éa", "aébaé"}}, {"a", "LTRIM", []any{"xya", "yx"}}, {"", "RTRIM", []any{"xx", "x"}},
		{"TRUE", "STARTSWITH", []any{"", ""}}, {"FALSE", "ENDSWITH", []any{"a", "ba"}}, {"", "REVERSE", []any{""}},
		{"a,c", "CONCAT_WS", []any{",", "a", nil, "c"}}, {"ab", "||", []any{"a", "b"}}, {"", "REPEAT", []any{"", int64(1) << 60}},
		{"error: UTF-8", "FROM_BASE64", []any{"/w=="}}, {"", "TO_BASE64", []any{""}}, {"d41d8cd98f00b204e9800998ecf8427e", "MD5", []any{""}}, {"D0AF", "HEX", []any{"Я"}},
		{"1111111111111111111111111111111111111111111111111111111111111111", "BIN", []any{-1}}, {"x'0aff'", "UNHEX", []any{"AFF"}},
	} {
		check(t, c.want, c.name, c.args...)
	}
}

func TestConcatType(t *testing.T) {
	if got := resolved(t, "||", "ab", "c").Type().String(); got != "CHAR(3) NOT NULL" {
		t.Error(got)
	}
	if got := resolved(t, "||", resolved(t, "UPPER", "a"), "c").Type().String(); got != "STRING NOT NULL" {
		t.Error(got)
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		want string
		name string
		args []any
	}{
		{"TRUE", "LIKE", []any{"", ""}}, {"TRUE", "LIKE", []any{"", "%"}}, {"FALSE", "LIKE", []any{"", "_"}}, {"TRUE", "LIKE", []any{"abc", "a%c"}},
		{"TRUE", "LIKE", []any{"ac", "a%c"}}, {"FALSE", "LIKE", []any{"a", "a%a"}}, {"TRUE", "LIKE", []any{"abcabd", "%ab_"}}, {"TRUE", "LIKE", []any{"xaybz", "%a%b%"}},
		{"FALSE", "LIKE", []any{"xbya", "%a%b%"}}, {"TRUE", "LIKE", []any{"я", "_"}}, {"TRUE", "LIKE", []any{"a\nb", "a%b"}}, {"TRUE", "LIKE", []any{"a\\b", "a\\b"}},
		{"TRUE", "LIKE", []any{"a_b", "a\\_b", "\\"}}, {"FALSE", "LIKE", []any{"axb", "a\\_b", "\\"}}, {"error: escape", "LIKE", []any{"a", "a\\b", "\\"}}, {"error: escape", "LIKE", []any{"a", "a\\", "\\"}},
		{"TRUE", "LIKE", []any{"aXbXc", "a_b_c"}}, {"TRUE", "LIKE", []any{"aab", "%ab"}}, {"TRUE", "LIKE", []any{"aaab", "%_ab"}}, {"FALSE", "LIKE", []any{"ABC", "abc"}},
		{"TRUE", "SIMILAR TO", []any{"abab", "(ab){2}"}}, {"FALSE", "SIMILAR TO", []any{"ababab", "(ab){2}"}}, {"TRUE", "SIMILAR TO", []any{"b", "[a-c]"}}, {"FALSE", "SIMILAR TO", []any{"d", "[a-c]"}},
		{"TRUE", "SIMILAR TO", []any{"d", "[^a-c]"}}, {"TRUE", "SIMILAR TO", []any{"a%", "a!%", "!"}}, {"TRUE", "SIMILAR TO", []any{"^$", "^$"}}, {"TRUE", "SIMILAR TO", []any{"7", "[[:DIGIT:]]"}},
		{"TRUE", "SIMILAR TO", []any{"x7", "[[:ALPHA:]][[:DIGIT:]]"}}, {"error: character class", "SIMILAR TO", []any{"x", "[[:NOPE:]]"}}, {"TRUE", "SIMILAR TO", []any{"a\nb", "a_b"}},
		{"FALSE", "REGEXP", []any{"abc", "^b"}}, {"error: no group 2", "REGEXP_REPLACE", []any{"a", "(a)", "$2"}}, {"error: no group number", "REGEXP_REPLACE", []any{"a", "a", "$"}},
		{"xbxbx", "REGEXP_REPLACE", []any{"bb", "", "x"}}, {"NULL", "REGEXP_EXTRACT", []any{"a", "(b)?a", 1}}, {"NULL", "REGEXP_EXTRACT", []any{"a", "a", -1}},
	} {
		check(t, c.want, c.name, c.args...)
	}
}

// Patterns that are not constant give what constant ones give.
func TestDynamicPatterns(t *testing.T) {
	dynamic := func(s string) Expr { return resolved(t, "REVERSE", resolved(t, "REVERSE", s)) }
	for _, name := range []string{"LIKE", "SIMILAR TO", "REGEXP"} {
		for _, p := range []string{"a%", "_b", "%b%", "b"} {
			a, b := show(resolved(t, name, "ab", p), nil, &Ctx{}), show(resolved(t, name, "ab", dynamic(p)), nil, &Ctx{})
			if a != b {
				t.Errorf("%s %q: %s and %s", name, p, a, b)
			}
		}
	}
	check(t, "error: regular expression", "REGEXP", "a", dynamic("("))
	check(t, "2024", "DATE_FORMAT", timestamp("2024-02-29"), dynamic("yyyy"))
}

func likeToRegexp(p string) string {
	var b strings.Builder
	for _, r := range p {
		switch r {
		case '%':
			b.WriteString("(?s:.*)")
		case '_':
			b.WriteString("(?s:.)")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return `\A` + b.String() + `\z`
}

func FuzzLike(f *testing.F) {
	f.Add("abcabc", "%a_c%")
	f.Add("aab", "_%b")
	f.Fuzz(func(t *testing.T, s, p string) {
		s, p = strings.ToValidUTF8(s, ""), strings.ToValidUTF8(p, "")
		if len(p) > 30 {
			return
		}
		compiled, err := compileLike([]byte(p), -1)
		if err != nil {
			t.Fatal(err)
		}
		if want := regexp.MustCompile(likeToRegexp(p)).MatchString(s); compiled.match([]byte(s)) != want {
			t.Fatalf("%q LIKE %q: want %v", s, p, want)
		}
	})
}
