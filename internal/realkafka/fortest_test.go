package realkafka

import (
	"errors"
	"fmt"
	"testing"
)

// recorder notes whether a test was skipped or failed.
type recorder struct {
	testing.TB
	skipped, failed bool
}

func (r *recorder) Helper()     {}
func (r *recorder) Skip(...any) { r.skipped = true; panic(r) }
func (r *recorder) Fatal(...any) {
	r.failed = true
	panic(r)
}

func TestGiveUp(t *testing.T) {
	unavailable := fmt.Errorf("start: %w", &UnavailableError{"no java"})
	for _, c := range []struct {
		err           error
		ci            bool
		skip, failure bool
	}{
		{unavailable, false, true, false},
		{unavailable, true, false, true},
		{errors.New("it ended before it answered"), false, false, true},
	} {
		r := &recorder{TB: t}
		func() {
			defer func() {
				if p := recover(); p != any(r) {
					t.Errorf("giveUp ended with %v", p)
				}
			}()
			giveUp(r, c.err, c.ci)
		}()
		if r.skipped != c.skip || r.failed != c.failure {
			t.Errorf("giveUp(%v, ci=%t): skipped %t, failed %t", c.err, c.ci, r.skipped, r.failed)
		}
	}
}
