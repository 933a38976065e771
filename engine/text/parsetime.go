package text

import (
	"math"
	"time"

	"github.com/sluicesql/sluice/engine/row"
)

// Layout says how a timestamp's text separates date and time.
type Layout uint8

// The layouts.
const (
	AnyLayout Layout = iota // a blank or T; the time may be missing, as CAST allows
	SQLLayout               // 2024-02-29 12:34:56.789
	ISOLayout               // 2024-02-29T12:34:56.789
)

// scanner walks over a text of dates and times.
type scanner struct {
	s  []byte
	at int
}

func (p *scanner) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *scanner) skip(c byte) bool {
	if p.peek() == c {
		p.at++
		return true
	}
	return false
}

func (p *scanner) done() bool { return p.at == len(p.s) }

// number reads between lo and hi digits.
func (p *scanner) number(lo, hi int) (v, digits int, ok bool) {
	for digits < hi && isDigit(p.peek()) {
		v = v*10 + int(p.s[p.at]-'0')
		p.at++
		digits++
	}
	return v, digits, digits >= lo
}

// date reads [±]y…-m-d with one or two digits for month and day.
func (p *scanner) date() (days int64, err error) {
	negative := p.skip('-')
	if !negative {
		p.skip('+')
	}
	y, _, ok := p.number(1, 6)
	if negative {
		y = -y
	}
	if !ok || !p.skip('-') {
		return 0, ErrSyntax
	}
	m, _, ok := p.number(1, 2)
	if !ok || !p.skip('-') {
		return 0, ErrSyntax
	}
	d, _, ok := p.number(1, 2)
	if !ok {
		return 0, ErrSyntax
	}
	if m < 1 || m > 12 || d < 1 || d > DaysIn(y, m) || y < MinYear || y > MaxYear {
		return 0, ErrRange
	}
	return Days(y, m, d), nil
}

// clock reads h[:m[:s[.f…]]] with one or two digits each; minutes may be missing only when short is set.
func (p *scanner) clock(short bool) (nanos int64, err error) {
	h, _, ok := p.number(1, 2)
	if !ok || h > 23 {
		return 0, bad(ok)
	}
	nanos = int64(h) * 3600 * NanosPerSecond
	if !p.skip(':') {
		if short {
			return nanos, nil
		}
		return 0, ErrSyntax
	}
	m, _, ok := p.number(1, 2)
	if !ok || m > 59 {
		return 0, bad(ok)
	}
	nanos += int64(m) * 60 * NanosPerSecond
	if !p.skip(':') {
		return nanos, nil
	}
	s, _, ok := p.number(1, 2)
	if !ok || s > 59 {
		return 0, bad(ok)
	}
	nanos += int64(s) * NanosPerSecond
	if p.skip('.') {
		f, err := p.fraction()
		if err != nil {
			return 0, err
		}
		nanos += f
	}
	return nanos, nil
}

// fraction reads the digits after a second's point; those below a nanosecond are dropped.
func (p *scanner) fraction() (nanos int64, err error) {
	f, n, ok := p.number(1, 9)
	if !ok {
		return 0, ErrSyntax
	}
	for isDigit(p.peek()) {
		p.at++
	}
	return int64(f) * unitNanos[n], nil
}

func bad(syntaxOK bool) error {
	if syntaxOK {
		return ErrRange
	}
	return ErrSyntax
}

// zone reads Z, or an offset as ±h[h][:mm], ±hhmm.
func (p *scanner) zone() (seconds int64, err error) {
	if p.skip('Z') || p.skip('z') {
		return 0, nil
	}
	sign := int64(1)
	switch {
	case p.skip('-'):
		sign = -1
	case p.skip('+'):
	default:
		return 0, ErrSyntax
	}
	h, _, ok := p.number(1, 2)
	m := 0
	if ok && (p.skip(':') || isDigit(p.peek())) {
		m, _, ok = p.number(2, 2)
	}
	if !ok || h > 18 || m > 59 {
		return 0, bad(ok)
	}
	return sign * int64(h*3600+m*60), nil
}

// ParseDate reads a DATE as days since 1970-01-01: year-month-day, optionally followed by a time of day,
// which is checked and dropped.
func ParseDate(s []byte) (days int64, err error) {
	p := scanner{s: s}
	if days, err = p.date(); err != nil || p.done() {
		return days, err
	}
	if !p.skip(' ') && !p.skip('T') {
		return 0, ErrSyntax
	}
	if _, err = p.clock(true); err == nil && !p.done() {
		err = ErrSyntax
	}
	return days, err
}

// ParseTime reads a TIME as nanoseconds of the day: hour:minute[:second[.fraction]].
func ParseTime(s []byte) (nanos int64, err error) {
	p := scanner{s: s}
	if nanos, err = p.clock(false); err == nil && !p.done() {
		err = ErrSyntax
	}
	return nanos, err
}

// dateTime reads a date and a time of day.
func (p *scanner) dateTime(l Layout) (days, nanos int64, err error) {
	if days, err = p.date(); err != nil {
		return 0, 0, err
	}
	switch {
	case l != SQLLayout && p.skip('T'), l != ISOLayout && p.skip(' '):
		nanos, err = p.clock(l == AnyLayout)
	case l != AnyLayout:
		err = ErrSyntax
	}
	return days, nanos, err
}

// ParseTimestamp reads a TIMESTAMP of the given precision; further digits are dropped.
func ParseTimestamp(s []byte, precision int, l Layout) (row.Datum, error) {
	p := scanner{s: s}
	days, nanos, err := p.dateTime(l)
	if err == nil && !p.done() {
		err = ErrSyntax
	}
	if err != nil {
		return row.Datum{}, err
	}
	return join(precision, days, nanos)
}

// ParseTimestampLTZ reads a TIMESTAMP_LTZ of the given precision: the text of a TIMESTAMP, followed by Z or
// an offset such as +02:00, or else in the local time of tz (nil is UTC).
func ParseTimestampLTZ(s []byte, precision int, l Layout, tz *time.Location) (row.Datum, error) {
	p := scanner{s: s}
	days, nanos, err := p.dateTime(l)
	if err != nil {
		return row.Datum{}, err
	}
	if p.done() {
		days, nanos = FromLocal(tz, days, nanos)
		return join(precision, days, nanos)
	}
	p.skip(' ')
	seconds, err := p.zone()
	if err == nil && !p.done() {
		err = ErrSyntax
	}
	if err != nil {
		return row.Datum{}, err
	}
	days, nanos = shift(days, nanos, -seconds)
	return join(precision, days, nanos)
}

func join(precision int, days, nanos int64) (row.Datum, error) {
	d, ok := Join(precision, days, nanos)
	if !ok {
		return d, ErrRange
	}
	return d, nil
}

// parseIntervalYM reads [±]years-months.
func parseIntervalYM(s []byte) (row.Datum, error) {
	p := scanner{s: s}
	negative := p.skip('-')
	if !negative {
		p.skip('+')
	}
	y, _, ok := p.number(1, 9)
	if !ok || !p.skip('-') {
		return row.Datum{}, ErrSyntax
	}
	m, _, ok := p.number(1, 2)
	if !ok || !p.done() {
		return row.Datum{}, ErrSyntax
	}
	months := int64(y)*12 + int64(m)
	if m > 11 || months > math.MaxInt32 {
		return row.Datum{}, ErrRange
	}
	if negative {
		months = -months
	}
	return row.Int(months), nil
}

// parseIntervalDT reads [±]days hours:minutes:seconds[.fraction].
func parseIntervalDT(s []byte) (row.Datum, error) {
	p := scanner{s: s}
	negative := p.skip('-')
	if !negative {
		p.skip('+')
	}
	d, _, ok := p.number(1, 9)
	if !ok || !p.skip(' ') {
		return row.Datum{}, ErrSyntax
	}
	nanos, err := p.clock(false)
	if err == nil && !p.done() {
		err = ErrSyntax
	}
	if err != nil {
		return row.Datum{}, err
	}
	us, ok := JoinMicros(int64(d), nanos)
	if !ok {
		return row.Datum{}, ErrRange
	}
	if negative {
		us = -us
	}
	return row.Int(us), nil
}
