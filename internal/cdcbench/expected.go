package cdcbench

import (
	"fmt"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Result is a bag of joined rows, told by its size and a checksum that does not
// depend on order: the sum, modulo 2^64, of xxhash64 over
// user_id|firstname|lastname|domain_name.
type Result struct {
	Rows     int64
	Checksum uint64
}

func (r Result) String() string {
	return fmt.Sprintf("%d rows, checksum %d", r.Rows, r.Checksum)
}

// add counts a row in, or out with weight -1.
func (r *Result) add(hash uint64, weight int64) {
	r.Rows += weight
	r.Checksum += hash * uint64(weight)
}

// appendJoined appends the form of a joined row that is hashed.
func appendJoined(b []byte, userID int64, first, last, name string) []byte {
	b = strconv.AppendInt(b, userID, 10)
	b = append(b, '|')
	b = append(b, first...)
	b = append(b, '|')
	b = append(b, last...)
	b = append(b, '|')
	return append(b, name...)
}

// Expected is the join of both tables as they are now.
func (m *Model) Expected() Result {
	var r Result
	var row, last, name []byte
	for id := int32(1); int(id) < len(m.domains); id++ {
		d := m.domains[id]
		if !d.live || int(d.user) >= len(m.users) {
			continue
		}
		u := m.users[d.user]
		last = u.appendLastName(last[:0])
		name = d.appendName(name[:0], id)
		row = appendJoined(row[:0], int64(d.user), firstNames[u.first], string(last), string(name))
		r.add(xxhash.Sum64(row), 1)
	}
	return r
}

// LiveRows is the number of rows in both tables: what a join has to keep.
func (m *Model) LiveRows() int64 {
	n := int64(len(m.users) - 1)
	for _, d := range m.domains[1:] {
		if d.live {
			n++
		}
	}
	return n
}
