package expr

import (
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/sluicesql/sluice/engine/row"
)

// Ctx is what evaluation needs beside the row: the session's settings, memory for results, and the first
// error. A Ctx serves one goroutine; the compiled expressions themselves may be shared. The zero value is
// ready: UTC, at the epoch.
type Ctx struct {
	// Zone is the session's time zone (table.local-time-zone); nil is UTC.
	Zone *time.Location
	// Now is the epoch's time in microseconds since 1970-01-01 UTC: what CURRENT_TIMESTAMP and its like
	// return for every row of the epoch, so that replaying the epoch gives the same rows.
	Now int64
	// Err is the first error since Reset. Once it is set, results mean nothing.
	Err error

	scratch  []byte      // the bytes of results, until Reset
	args     []row.Datum // a stack for the arguments of variadic functions
	parts    [][]byte    // a stack for strings to be joined
	building []byte      // a stack of texts being built
	regexps  map[string]*regexp.Regexp
	sources  map[*Call]*rand.Rand // of calls with a seed
	likes    map[string]*likePattern
	dates    map[string]datePattern
	sets     []*elemSet  // those not in use
	walkers  []*jsonWalk // those not in use; calls of JSON functions may nest
}

// Reset frees the memory of results and clears the error. Call it before each row, or each batch when
// results must live as long as that; results of before are then invalid.
func (c *Ctx) Reset() {
	c.scratch = c.scratch[:0]
	c.Err = nil
}

// fail records the first error and returns NULL.
func (c *Ctx) fail(err error) row.Datum {
	if c.Err == nil {
		c.Err = err
	}
	return row.NullDatum
}

// done takes back the scratch memory with a result appended from offset at on.
func (c *Ctx) done(buf []byte, at int) row.Datum { return row.Datum{B: c.keep(buf, at)} }

// keep is done for the bytes alone.
func (c *Ctx) keep(buf []byte, at int) []byte {
	c.scratch = buf
	return buf[at:len(buf):len(buf)]
}

// maxCached bounds the caches of patterns that are not constant.
const maxCached = 256

// walker lends a JSON walker, whose memory is used again.
func (c *Ctx) walker() *jsonWalk {
	n := len(c.walkers)
	if n == 0 {
		return &jsonWalk{}
	}
	w := c.walkers[n-1]
	c.walkers = c.walkers[:n-1]
	return w
}

func (c *Ctx) release(w *jsonWalk) { c.walkers = append(c.walkers, w) }
