// Package secret finds what nobody is to be shown in options and texts: the values of options whose names say so,
// passwords within addresses, credentials within other values. It is a leaf that every room may import.
package secret

import (
	"regexp"
	"slices"
	"strings"
)

// Mask stands in the place of a secret.
const Mask = "******"

// Named reports whether an option's name alone says that its value is a secret: members of a family such as
// "properties.*" have no declaration of their own, and an error's excerpt shows names that nobody declared.
func Named(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"password", "passwd", "passphrase", "secret", "jaas", "token", "keystore.key", "user.info", "private.key", "api.key", "apikey", "api_key", "access.key", "accesskey", "access_key"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// Value is what is shown of the value of the option name, and Text what is shown of a message, a plan or any other text
// that is no row of a table: with Mask in the place of each secret.
func Value(name, value string) string { return Hide(value, InValue(name, value)) }

// Text is described at Value.
func Text(text string) string { return Hide(text, InText(text)) }

// Hide is text with Mask in the given places, which are in order.
func Hide(text string, places [][2]int) string {
	if places == nil {
		return text
	}
	var b strings.Builder
	end := 0
	for _, at := range places {
		b.WriteString(text[end:at[0]] + Mask)
		end = at[1]
	}
	return b.String() + text[end:]
}

// InValue are the places of the secrets in the value of the option name, in order: all of it, or what follows.
//
//	scheme://user:PASSWORD@host     the scheme may be missing
//	?password=PASSWORD&…            each name that is Named
//	password="PASSWORD"             as JAAS, connection strings and JSON have it
//	-----BEGIN PRIVATE KEY-----…
//
// A password may hold any character, so it ends at the last '@'. Where it could end earlier, more is hidden rather than less.
func InValue(name, value string) [][2]int {
	if Named(name) {
		return join(value, [][2]int{{0, len(value)}})
	}
	places := append(inAddresses(value, false), inKeys(value)...)
	if m := bare.FindStringIndex(value); m != nil && !strings.Contains(value, "://") {
		places = append(places, upToHost(value, m[1])...)
	}
	for _, m := range pair.FindAllStringSubmatchIndex(value, -1) {
		if Named(value[m[2]:m[3]]) {
			from := m[4]
			if value[from] == '"' || value[from] == '\'' {
				from++
			}
			places = append(places, [2]int{from, m[5]})
		}
	}
	return join(value, places)
}

// InText are the places of the secrets in a text, in order. An address in it ends at white space or a quotation mark, and
// what has no scheme is none.
func InText(text string) [][2]int {
	return join(text, append(inAddresses(text, true), inKeys(text)...))
}

// join puts places in order and makes one of those that overlap. Empty ones, and those that are masked, are left out.
func join(text string, places [][2]int) (joined [][2]int) {
	slices.SortFunc(places, func(a, b [2]int) int { return a[0] - b[0] })
	for _, at := range places {
		switch last := len(joined) - 1; {
		case strings.Trim(text[at[0]:at[1]], "*\r\n") == "":
		case last >= 0 && at[0] <= joined[last][1]:
			joined[last][1] = max(joined[last][1], at[1])
		default:
			joined = append(joined, at)
		}
	}
	return joined
}

var (
	// scheme begins an address, and next one that follows another.
	scheme = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://`)
	next   = regexp.MustCompile(`[\s,;|]` + scheme.String())
	// within is how far an address goes in a text, which may write its quotation marks twice or after a backslash.
	within = regexp.MustCompile("^(?:\\\\[^nrt]|''|[^\\s\"'`<>])*")
	// user is what may stand before a password behind a scheme, and bare where there is none.
	user = regexp.MustCompile(`^[^\s:/?#]*:`)
	bare = regexp.MustCompile(`(?:^|[\s,;=])(?://)?[^\s:/?#'"=,;]*:`)
	// port is one that is all, or that a path follows.
	port = regexp.MustCompile(`^\d{1,5}(?:[/?#]|$)`)
	// parameter begins one of an address, whose '&' may be as JSON writes it.
	parameter = regexp.MustCompile(`([?&;]|\\u0026)([\w.-]+)=`)
	// pair is a name with its value, within quotation marks or without.
	pair = regexp.MustCompile(`([\w.-]+)(?:\\?["']\s*[:=]|\s*=)\s*("(?:\\(?s:.)|[^"\\])*|'(?:\\(?s:.)|[^'\\])*|[^\s;"'][^\s;]*)`)
	// key is a private key in PEM.
	key = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----(.*?)(?:-----END|$)`)
)

// inAddresses are the places of secrets in addresses with a scheme. short says that s is a text, in which an address may
// end early and may be cut short.
func inAddresses(s string, short bool) (places [][2]int) {
	for at := 0; ; {
		m := scheme.FindStringIndex(s[at:])
		if m == nil {
			return places
		}
		at += m[1]
		end := len(s)
		if short {
			end = at + len(within.FindString(s[at:]))
		}
		if m := next.FindStringIndex(s[at:end]); m != nil {
			end = at + m[0]
		}
		address := s[:end]
		if from := at + len(user.FindString(address[at:])); from > at {
			password := upToHost(address, from)
			if rest, cut := strings.CutSuffix(address[from:], "…"); short && cut && password == nil && !port.MatchString(rest) {
				password = [][2]int{{from, from + len(rest)}}
			}
			places = append(places, password...)
		}
		places = append(places, inParameters(address, at)...)
		at = end
	}
}

// upToHost is the place of a password that begins at a place of s and ends before the last '@', if there is one.
func upToHost(s string, from int) [][2]int {
	if n := strings.LastIndexByte(s[from:], '@'); n >= 0 {
		return [][2]int{{from, from + n}}
	}
	return nil
}

// inParameters are the places of secrets in the parameters of an address, which begins at a place of s and ends with it.
func inParameters(s string, at int) (places [][2]int) {
	for _, m := range parameter.FindAllStringSubmatchIndex(s[at:], -1) {
		if !Named(s[at+m[4] : at+m[5]]) {
			continue
		}
		from, end := at+m[1], len(s)
		ends := []string{"&", `\u0026`}
		if s[at+m[2]] == ';' {
			ends = []string{";"}
		}
		for _, e := range ends {
			if n := strings.Index(s[from:end], e); n >= 0 {
				end = from + n
			}
		}
		places = append(places, [2]int{from, end})
	}
	return places
}

// inKeys are the places of private keys.
func inKeys(s string) (places [][2]int) {
	for _, m := range key.FindAllStringSubmatchIndex(s, -1) {
		places = append(places, [2]int{m[2], m[3]})
	}
	return places
}
