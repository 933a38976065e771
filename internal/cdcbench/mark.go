package cdcbench

import (
	"bytes"
	"strconv"
)

// A mark in a row's text is 'L' and a time in Unix nanoseconds: 19 digits, the
// first of which is 1 until 2033.
const markDigits = 19

var (
	markStart  = []byte("L1")
	afterField = []byte(`"after":`)
	null       = []byte("null")
)

func appendMark(b []byte, mark int64) []byte {
	return strconv.AppendInt(append(b, 'L'), mark, 10)
}

// newestMark returns the latest mark in the row that an output record adds, or 0
// if it adds none or the row bears no mark. An envelope's before is a row that
// was: its marks are old.
func newestMark(value []byte) (mark int64, added bool) {
	if i := bytes.Index(value, afterField); i >= 0 {
		value = value[i+len(afterField):]
		if bytes.HasPrefix(value, null) {
			return 0, false
		}
	}
	if len(value) == 0 {
		return 0, false
	}
	for {
		i := bytes.Index(value, markStart)
		if i < 0 {
			return mark, true
		}
		value = value[i+1:]
		n := 0
		for n < len(value) && value[n] >= '0' && value[n] <= '9' {
			n++
		}
		if n == markDigits {
			if m, err := strconv.ParseInt(string(value[:n]), 10, 64); err == nil {
				mark = max(mark, m)
			}
		}
		value = value[n:]
	}
}
