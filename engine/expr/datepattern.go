package expr

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/sluicesql/sluice/engine/text"
)

// datePattern is a compiled pattern of Java's DateTimeFormatter, as DATE_FORMAT and TO_TIMESTAMP take it.
type datePattern []dateItem

// dateItem is a run of one pattern letter, or literal text where letter is 0.
type dateItem struct {
	letter byte
	count  int
	lit    []byte
}

// patternLetters are the letters that are known, with the largest number of them that has a meaning.
var patternLetters = map[byte]int{
	'y': 6, 'u': 6, 'M': 4, 'L': 4, 'd': 2, 'D': 3, 'E': 4, 'a': 1, 'H': 2, 'k': 2, 'K': 2, 'h': 2, 'm': 2, 's': 2, 'S': 9,
	'X': 3, 'x': 3, 'Z': 3,
}

func compileDatePattern(p []byte) (datePattern, error) {
	var out datePattern
	literal := func(c byte) {
		if n := len(out); n > 0 && out[n-1].letter == 0 {
			out[n-1].lit = append(out[n-1].lit, c)
			return
		}
		out = append(out, dateItem{lit: []byte{c}})
	}
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c == '\'':
			end := i + 1
			if end < len(p) && p[end] == '\'' { // '' is a quote
				literal('\'')
				i++
				continue
			}
			for ; end < len(p); end++ {
				if p[end] != '\'' {
					literal(p[end])
				} else if end+1 < len(p) && p[end+1] == '\'' {
					literal('\'')
					end++
				} else {
					break
				}
			}
			if end == len(p) {
				return nil, fmt.Errorf("the pattern %q has a quote without an end", p)
			}
			i = end
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			n := 1
			for i+n < len(p) && p[i+n] == c {
				n++
			}
			if most := patternLetters[c]; n > most {
				return nil, fmt.Errorf("the pattern %q holds %q, which is not supported; known letters are y M d D E a H k K h m s S X x Z", p, bytes.Repeat([]byte{c}, n))
			}
			out = append(out, dateItem{letter: c, count: n})
			i += n - 1
		default:
			literal(c)
		}
	}
	return out, nil
}

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

var dayNames = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

func appendPadded(buf []byte, v int64, width int) []byte {
	var t [20]byte
	i := len(t)
	for v > 0 || i == len(t) {
		i--
		t[i] = byte('0' + v%10)
		v /= 10
	}
	for len(t)-i < width {
		i--
		t[i] = '0'
	}
	return append(buf, t[i:]...)
}

// zoned reports whether the pattern has an offset from UTC.
func (p datePattern) zoned() bool {
	return slices.ContainsFunc(p, func(it dateItem) bool { return it.letter == 'X' || it.letter == 'x' || it.letter == 'Z' })
}

// appendOffset writes an offset of so many seconds: +02, +0200 or +02:00 by the number of letters, where X writes Z
// for none, and Z is the second form.
func (it dateItem) appendOffset(buf []byte, offset int64) []byte {
	count := it.count
	switch {
	case it.letter == 'X' && offset == 0:
		return append(buf, 'Z')
	case it.letter == 'Z':
		count = 2
	}
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	minutes := offset / 60 % 60
	buf = appendPadded(append(buf, sign), offset/3600, 2)
	if count == 1 && minutes == 0 {
		return buf
	}
	if count == 3 {
		buf = append(buf, ':')
	}
	return appendPadded(buf, minutes, 2)
}

// readOffset reads what appendOffset writes; false for anything else.
func (it dateItem) readOffset(s []byte) (offset int64, rest []byte, ok bool) {
	if len(s) > 0 && s[0] == 'Z' && it.letter == 'X' {
		return 0, s[1:], true
	}
	two := func(s []byte) (int64, bool) {
		if len(s) < 2 || s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
			return 0, false
		}
		return int64(s[0]-'0')*10 + int64(s[1]-'0'), true
	}
	if len(s) == 0 || s[0] != '+' && s[0] != '-' {
		return 0, s, false
	}
	negative := s[0] == '-'
	hours, ok := two(s[1:])
	if !ok || hours > 18 {
		return 0, s, false
	}
	s = s[3:]
	after, colon := bytes.CutPrefix(s, []byte{':'})
	if minutes, ok := two(after); ok && minutes < 60 && colon == (it.count == 3 && it.letter != 'Z') {
		offset, s = minutes*60, after[2:]
	} else if it.count > 1 || it.letter == 'Z' {
		return 0, s, false
	}
	if offset += hours * 3600; negative {
		offset = -offset
	}
	return offset, s, true
}

// format writes a local date and time of day that is offset seconds ahead of UTC.
func (p datePattern) format(buf []byte, days, nanos, offset int64) []byte {
	y, m, d := text.Civil(days)
	hour := nanos / (3600 * text.NanosPerSecond)
	for _, it := range p {
		v := int64(-1)
		switch it.letter {
		case 0:
			buf = append(buf, it.lit...)
		case 'y', 'u':
			v = int64(y)
			if it.letter == 'y' && v <= 0 { // the year of the era
				v = 1 - v
			}
			if v < 0 {
				buf, v = append(buf, '-'), -v
			}
			if it.count == 2 {
				v %= 100
			}
		case 'M', 'L':
			switch it.count {
			case 3:
				buf = append(buf, monthNames[m-1][:3]...)
			case 4:
				buf = append(buf, monthNames[m-1]...)
			default:
				v = int64(m)
			}
		case 'E':
			name := dayNames[weekday(days)]
			if it.count < 4 {
				name = name[:3]
			}
			buf = append(buf, name...)
		case 'a':
			if hour < 12 {
				buf = append(buf, "AM"...)
			} else {
				buf = append(buf, "PM"...)
			}
		case 'd':
			v = int64(d)
		case 'D':
			v = unitDOY.part(days, nanos)
		case 'H':
			v = hour
		case 'k':
			v = (hour+23)%24 + 1
		case 'K':
			v = hour % 12
		case 'h':
			v = (hour+11)%12 + 1
		case 'm':
			v = nanos / (60 * text.NanosPerSecond) % 60
		case 's':
			v = nanos / text.NanosPerSecond % 60
		case 'S':
			at := len(buf)
			buf = text.AppendFraction(buf, nanos%text.NanosPerSecond, it.count)
			buf = append(buf[:at], buf[at+1:]...) // without the point
		case 'X', 'x', 'Z':
			buf = it.appendOffset(buf, offset)
		}
		if v >= 0 {
			buf = appendPadded(buf, v, it.count)
		}
	}
	return buf
}

// dateFields are what a pattern has read; -1 for what did not occur.
type dateFields struct {
	year, month, day, yearDay, hour, hour12, minute, second, nanos int64
	pm                                                             int64
	offset                                                         int64 // seconds ahead of UTC
}

// parse reads text by the pattern. What the pattern leaves out is 1970-01-01, midnight; offset counts where the
// pattern is zoned.
func (p datePattern) parse(s []byte) (days, nanos, offset int64, ok bool) {
	f := dateFields{1970, 1, 1, -1, -1, -1, 0, 0, 0, -1, 0}
	for i, it := range p {
		if it.letter == 0 {
			if !bytes.HasPrefix(s, it.lit) {
				return 0, 0, 0, false
			}
			s = s[len(it.lit):]
			continue
		}
		adjacent := i+1 < len(p) && p[i+1].letter != 0
		if s, ok = f.read(it, s, adjacent); !ok {
			return 0, 0, 0, false
		}
	}
	if len(s) > 0 {
		return 0, 0, 0, false
	}
	days, nanos, ok = f.moment()
	return days, nanos, f.offset, ok
}

// instant reads text by the pattern as an instant, in days and nanoseconds of UTC: a time of the zone, where the text
// itself has no offset.
func (p datePattern) instant(s []byte, zone *time.Location) (days, nanos int64, ok bool) {
	days, nanos, offset, ok := p.parse(s)
	if !p.zoned() {
		days, nanos = text.FromLocal(zone, days, nanos)
		return days, nanos, ok
	}
	second := days*86400 + nanos/text.NanosPerSecond - offset
	days = text.FloorDiv(second, 86400)
	return days, text.FloorMod(second, 86400)*text.NanosPerSecond + nanos%text.NanosPerSecond, ok
}

// read takes one item off the front of s: so many digits as the pattern has letters, any number for a single
// letter, more than four for a year that no digits follow.
func (f *dateFields) read(it dateItem, s []byte, adjacent bool) ([]byte, bool) {
	switch {
	case it.letter == 'a':
		if len(s) < 2 || s[1]|0x20 != 'm' || s[0]|0x20 != 'a' && s[0]|0x20 != 'p' {
			return s, false
		}
		f.pm = 0
		if s[0]|0x20 == 'p' {
			f.pm = 1
		}
		return s[2:], true
	case it.letter == 'X' || it.letter == 'x' || it.letter == 'Z':
		offset, rest, ok := it.readOffset(s)
		f.offset = offset
		return rest, ok
	case it.letter == 'E':
		_, rest, ok := readName(s, dayNames[:], it.count)
		return rest, ok
	case (it.letter == 'M' || it.letter == 'L') && it.count > 2:
		n, rest, ok := readName(s, monthNames[:], it.count)
		f.month = int64(n) + 1
		return rest, ok
	}
	least, most := it.count, it.count
	if it.count == 1 && !adjacent && it.letter != 'S' {
		most = 6
	}
	if (it.letter == 'y' || it.letter == 'u') && it.count >= 4 && !adjacent {
		most = 6
	}
	negative := it.letter == 'u' && len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	v, n := int64(0), 0
	for n < most && n < len(s) && s[n] >= '0' && s[n] <= '9' {
		v = v*10 + int64(s[n]-'0')
		n++
	}
	if n < least {
		return s, false
	}
	if negative {
		v = -v
	}
	f.set(it, v)
	return s[n:], true
}

func readName(s []byte, names []string, count int) (int, []byte, bool) {
	for i, name := range names {
		if count < 4 {
			name = name[:3]
		}
		if len(s) >= len(name) && bytes.EqualFold(s[:len(name)], []byte(name)) {
			return i, s[len(name):], true
		}
	}
	return 0, s, false
}

func (f *dateFields) set(it dateItem, v int64) {
	switch it.letter {
	case 'y', 'u':
		if it.count == 2 {
			v += 2000
		}
		f.year = v
	case 'M', 'L':
		f.month = v
	case 'd':
		f.day = v
	case 'D':
		f.yearDay = v
	case 'H':
		f.hour = v
	case 'k':
		if f.hour = v % 24; v == 0 || v > 24 {
			f.hour = 24
		}
	case 'h':
		if f.hour12 = v % 12; v == 0 || v > 12 {
			f.hour12 = 12
		}
	case 'K':
		f.hour12 = v
	case 'm':
		f.minute = v
	case 's':
		f.second = v
	case 'S':
		for range 9 - it.count {
			v *= 10
		}
		f.nanos = v
	}
}

func (f *dateFields) moment() (days, nanos int64, ok bool) {
	hour := max(f.hour, 0)
	if f.hour12 >= 0 && f.hour < 0 {
		if f.hour12 > 11 {
			return 0, 0, false
		}
		hour = f.hour12 + 12*max(f.pm, 0)
	}
	year := int(f.year)
	switch {
	case year < text.MinYear || year > text.MaxYear, f.month < 1 || f.month > 12, hour > 23, f.minute > 59, f.second > 59:
		return 0, 0, false
	case f.yearDay >= 0:
		if days = text.Days(year, 1, 1) + f.yearDay - 1; f.yearDay < 1 || days > text.Days(year, 12, 31) {
			return 0, 0, false
		}
	case f.day < 1 || f.day > int64(text.DaysIn(year, int(f.month))):
		return 0, 0, false
	default:
		days = text.Days(year, int(f.month), int(f.day))
	}
	return days, ((hour*60+f.minute)*60+f.second)*text.NanosPerSecond + f.nanos, true
}
