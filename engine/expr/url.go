package expr

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/row"
)

func urlFunctions() []*Function {
	one := sig{params: []param{aString}, ret: returnsString}
	mayFail := one
	mayFail.mayNull = true
	const page = "http://user:pw@host.org:8080/a/p.php?k1=v1&k2=v%202#Ref"
	return []*Function{
		{
			Name: "URL_ENCODE", Category: StringFns, Signature: "URL_ENCODE(string)", Help: "The string in the form application/x-www-form-urlencoded, in UTF-8.",
			Examples: []Example{ex("a%2Fb+c%C3%A9-_.*", "a/b cé-_.*")}, bind: one.bind, bytes: bytesOfBytes(urlEncode),
		},
		{
			Name: "URL_DECODE", Category: StringFns, Signature: "URL_DECODE(string)", Help: "The string that is written in the form application/x-www-form-urlencoded; NULL if it is not, or is no UTF-8.",
			Examples: []Example{ex("a/b cé", "a%2Fb+c%c3%A9"), ex("NULL", "%4"), ex("NULL", "%ff")}, bind: mayFail.bind, build: eval1(urlDecode),
		},
		{
			Name: "PARSE_URL", Category: StringFns, Signature: "PARSE_URL(url, part [, key])",
			Help:     "A part of the URL as it is written: HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE or USERINFO, or the value of a key of the QUERY; NULL if it is missing.",
			Examples: []Example{ex("host.org", page, "HOST"), ex("/a/p.php", page, "PATH"), ex("k1=v1&k2=v%202", page, "QUERY"), ex("v%202", page, "QUERY", "k2"), ex("Ref", page, "REF"), ex("http", page, "PROTOCOL"), ex("user:pw@host.org:8080", page, "AUTHORITY"), ex("/a/p.php?k1=v1&k2=v%202", page, "FILE"), ex("user:pw", page, "USERINFO"), ex("NULL", page, "QUERY", "k"), ex("NULL", "no url", "HOST")},
			bind:     sig{params: []param{aString, aString, aString}, min: 2, ret: returnsString, mayNull: true}.bind, build: evalN(parseURL),
		},
	}
}

func urlEncode(c *Ctx, b []byte) []byte {
	const hex = "0123456789ABCDEF"
	buf, at := c.scratch, len(c.scratch)
	for _, x := range b {
		switch {
		case x >= 'a' && x <= 'z' || x >= 'A' && x <= 'Z' || x >= '0' && x <= '9' || strings.IndexByte("-_.*", x) >= 0:
			buf = append(buf, x)
		case x == ' ':
			buf = append(buf, '+')
		default:
			buf = append(buf, '%', hex[x>>4], hex[x&15])
		}
	}
	return c.keep(buf, at)
}

func urlDecode(c *Ctx, a row.Datum) row.Datum {
	buf, at := c.scratch, len(c.scratch)
	for i := 0; i < len(a.B); i++ {
		switch x := a.B[i]; x {
		case '+':
			buf = append(buf, ' ')
		case '%':
			if i+2 >= len(a.B) || hexDigit(a.B[i+1]) < 0 || hexDigit(a.B[i+2]) < 0 {
				return row.NullDatum
			}
			buf = append(buf, byte(hexDigit(a.B[i+1])<<4|hexDigit(a.B[i+2])))
			i += 2
		default:
			buf = append(buf, x)
		}
	}
	if out := c.keep(buf, at); utf8.Valid(out) {
		return row.Datum{B: out}
	}
	return row.NullDatum
}

func parseURL(c *Ctx, args []row.Datum) row.Datum {
	u, err := url.Parse(string(args[0].B))
	if err != nil || u.Scheme == "" {
		return row.NullDatum
	}
	s, ok := urlPart(u, string(args[1].B))
	if len(args) == 3 && ok {
		s, ok = queryValue(s, string(args[2].B))
		ok = ok && string(args[1].B) == "QUERY"
	}
	if !ok {
		return row.NullDatum
	}
	at := len(c.scratch)
	return c.done(append(c.scratch, s...), at)
}

// urlPart is a part as java.net.URL names it, without decoding; false where the URL has none.
func urlPart(u *url.URL, part string) (string, bool) {
	switch part {
	case "HOST":
		return u.Hostname(), u.Host != ""
	case "PATH":
		return u.EscapedPath(), true
	case "QUERY":
		return u.RawQuery, u.RawQuery != "" || u.ForceQuery
	case "REF":
		return u.EscapedFragment(), u.Fragment != ""
	case "PROTOCOL":
		return u.Scheme, true
	case "AUTHORITY":
		if u.User != nil {
			return u.User.String() + "@" + u.Host, true
		}
		return u.Host, u.Host != ""
	case "FILE":
		if u.RawQuery != "" || u.ForceQuery {
			return u.EscapedPath() + "?" + u.RawQuery, true
		}
		return u.EscapedPath(), true
	case "USERINFO":
		return u.User.String(), u.User != nil
	}
	return "", false
}

// queryValue is the value of the first key=value of a query.
func queryValue(query, key string) (string, bool) {
	for pair := range strings.SplitSeq(query, "&") {
		if k, v, ok := strings.Cut(pair, "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}
