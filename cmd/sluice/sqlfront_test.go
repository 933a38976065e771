package main

import "testing"

// An interrupt is for what runs, or for what begins next: until that is given up by expect.
func TestForegroundInterrupts(t *testing.T) {
	stops, kills := 0, 0
	stop, kill := func() { stops++ }, func() { kills++ }
	var f foreground
	is := func(what string, wantStops, wantKills int, interrupted bool) {
		t.Helper()
		if stops != wantStops || kills != wantKills || f.interrupted() != interrupted {
			t.Errorf("%s: %d stops and %d kills, interrupted %v", what, stops, kills, f.interrupted())
		}
		stops, kills = 0, 0
	}
	f.begin(stop, kill)
	is("nothing came", 0, 0, false)
	for range 2 {
		if !f.interrupt() {
			t.Error("nothing runs")
		}
	}
	is("two while it runs", 1, 1, true)
	f.end()
	f.begin(stop, kill)
	is("the next one", 0, 0, false)
	f.end()
	if f.interrupt() {
		t.Error("something runs")
	}
	f.forget() // what ran before, not what is to come
	f.begin(stop, kill)
	is("one came before", 1, 0, true)
	f.begin(stop, kill)
	is("the same one goes on", 1, 0, true)
	f.interrupt()
	is("a second", 0, 1, true)
	f.end()
	f.begin(stop, kill)
	is("the one after it", 0, 0, false)
	f.end()
	f.interrupt()
	f.expect()
	f.begin(stop, kill)
	is("what came is over", 0, 0, false)
}
