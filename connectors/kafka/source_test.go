package kafka

import (
	"slices"
	"sort"
	"strings"
	"testing"
)

func TestReadsInOrderOfPartitions(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 4)
	produce(t, b, "t", "a", "1|one", "b", "2|two", "a", "3|three", "c", "4|four")
	tb := table(b.Addr())
	src, _ := open(t, tb, nil)
	got := read(t, src.Reader(0), tb, 4)
	if i, j := slices.Index(got, "+I[1, one]"), slices.Index(got, "+I[3, three]"); i < 0 || j < i {
		t.Errorf("one key's records out of order: %v", got)
	}
	sort.Strings(got)
	if want := "+I[1, one] +I[2, two] +I[3, three] +I[4, four]"; strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
	produce(t, b, "t", "a", "5|five")
	if got := read(t, src.Reader(0), tb, 1); got[0] != "+I[5, five]" {
		t.Errorf("got %v", got)
	}
	st := src.Stats()
	if st.Records != 5 || st.Events != 5 || st.Lag != 0 || st.Bytes == 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestBounded(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 4)
	produce(t, b, "t", "a", "1|one", "b", "2|two")
	tb := table(b.Addr(), "scan.bounded.mode", "latest-offset")
	src, _ := open(t, tb, nil)
	produce(t, b, "t", "a", "3|three")
	if got := readAll(t, src.Reader(0), tb); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	if !src.Reader(0).Done() {
		t.Error("not done")
	}
}
