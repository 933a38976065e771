package secret

import "regexp"

const (
	between = `(?:\s|--[^\n]*\n|/\*(?s:.*?)\*/)*`
	quoted  = `(?:'((?:[^']|'')*)|"([^"]*))`
)

// option is an option as it has to be written: its name, and its value.
var option = regexp.MustCompile(`'([^'\s]+)'` + between + `=` + between + `'((?:[^']|'')*)`)

// mistaken are options as they may be written by mistake: with other quotes or none, and with another sign than '=' or
// none.
var mistaken = []*regexp.Regexp{
	regexp.MustCompile(`'([^'\s]+)'` + between + quoted),
	regexp.MustCompile("([\\w.-]+)[`'\"]?" + between + `[=:]+>?` + between + quoted),
	regexp.MustCompile(`([\w.-]+)'` + between + `[=:]+>?` + between + `([^\s,;()'"]+)`),
}

// Option is an option of SQL whose value holds secrets.
type Option struct {
	// Value is its value, which lies in the SQL from From to To, and Shown what is shown of it. Secrets are what is not.
	Value, Shown string
	From, To     int
	Secrets      []string
	places       [][2]int // in the SQL
}

// InSQL are the places of the secrets in the options of SQL without mistakes, in order.
func InSQL(src string) [][2]int { return join(src, placesOf(optionsOf(src, option))) }

// InMistakes are the places of all secrets in SQL that may have mistakes, in order. Where it is not clear what is an
// option, more is found rather than less.
func InMistakes(src string) [][2]int {
	return join(src, append(InText(src), placesOf(Options(src))...))
}

// Options are the options in SQL that may have mistakes, as InMistakes finds them.
func Options(src string) []Option {
	found := optionsOf(src, option)
	for _, form := range mistaken {
		found = append(found, optionsOf(src, form)...)
	}
	return found
}

func placesOf(options []Option) (places [][2]int) {
	for i := range options {
		places = append(places, options[i].places...)
	}
	return places
}

// optionsOf are the options with secrets, the name and the value of each of which form finds.
func optionsOf(src string, form *regexp.Regexp) (found []Option) {
	for _, m := range form.FindAllStringSubmatchIndex(src, -1) {
		for i := 4; i < len(m); i += 2 {
			if m[i] < 0 {
				continue
			}
			value, at := unquote(src[m[i]:m[i+1]])
			places := InValue(src[m[2]:m[3]], value)
			if places == nil {
				continue
			}
			o := Option{Value: value, Shown: Hide(value, places), From: m[i], To: m[i+1]}
			for _, p := range places {
				o.Secrets = append(o.Secrets, value[p[0]:p[1]])
				o.places = append(o.places, [2]int{m[i] + at[p[0]], m[i] + at[p[1]]})
			}
			found = append(found, o)
		}
	}
	return found
}

// unquote is the text that stands between quotation marks, and where in it each byte of the text is, and the end.
func unquote(s string) (text string, at []int) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		at = append(at, i)
		b = append(b, s[i])
		if s[i] == '\'' && i+1 < len(s) && s[i+1] == '\'' {
			i++
		}
	}
	return string(b), append(at, len(s))
}
