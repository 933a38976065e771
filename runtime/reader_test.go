package runtime

import (
	"context"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
)

// silentReader never has anything to read.
type silentReader struct{ spi.Reader }

func (silentReader) Ready() <-chan struct{} { return nil }

// What crowds the memory can go between a reader's look and its sleep; nobody would wake it then.
func TestCrowdedReaderLooksAgain(t *testing.T) {
	j := &Job{}
	j.control = newController(j)
	r := &readerTask{job: j, inst: &instance{}, r: silentReader{}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if final, err := r.wait(ctx, true, true); final || err != nil {
		t.Fatalf("final %v, %v", final, err)
	}
}
