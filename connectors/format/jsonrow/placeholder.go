package jsonrow

import (
	"bytes"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
)

// Placeholder is what Debezium sends for a value that PostgreSQL stores apart (TOAST) and that an update
// left alone, unless unavailable.value.placeholder names another.
const Placeholder = "__debezium_unavailable_value"

// The forms that the placeholder takes for the types of columns: as it is in text, and in a text[]; in
// base64 or, with binary.handling.mode=hex, hexadecimal digits in a bytea; as numbers in an int[].
var (
	placeholderText   = []byte(Placeholder)
	placeholderBase64 = []byte("X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")
	placeholderHex    = []byte("5f5f646562657a69756d5f756e617661696c61626c655f76616c7565")
	placeholderArray  = []byte(`["` + Placeholder + `"]`)
	placeholderInts   = []byte("[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]")
)

// IsPlaceholder reports whether a string is the placeholder, in any of its forms.
func IsPlaceholder(s []byte) bool {
	return bytes.Equal(s, placeholderText) || bytes.Equal(s, placeholderBase64) || bytes.Equal(s, placeholderHex)
}

// resemblesPlaceholder is a quick look at a string, without which it cannot be the placeholder.
func resemblesPlaceholder(b []byte) bool {
	switch len(b) {
	case len(placeholderText):
		return b[0] == placeholderText[0]
	case len(placeholderBase64):
		return b[0] == placeholderBase64[0]
	case len(placeholderHex):
		return b[0] == placeholderHex[0]
	}
	return false
}

func (d *Decoder) isPlaceholder(t *jsonscan.Token) bool {
	b := t.Bytes(d.msg)
	switch t.Kind {
	case jsonscan.String:
		return IsPlaceholder(b)
	case jsonscan.Array:
		return bytes.Equal(b, placeholderArray) || bytes.Equal(b, placeholderInts)
	default:
		return false
	}
}
