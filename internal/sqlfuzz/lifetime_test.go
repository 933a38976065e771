package sqlfuzz

import "testing"

// TestForgetting holds random queries whose state has a time to live to the model of what is forgotten.
func TestForgetting(t *testing.T) {
	engine, err := openSQLite()
	if err != nil {
		t.Fatal(err)
	}
	count := uint64(400)
	if testing.Short() {
		count = 60
	}
	seeds := []uint64{484, 566, 770, 876, 967, 1035, 1451, 1474, 2552, 2669, 3707, 4622} // which once differed, or ended the job
	for seed := range count {
		seeds = append(seeds, seed+1)
	}
	for _, seed := range seeds {
		c := forgetting(seed)
		if out, err := classify(runSafely(c, engine)); out != Agreed {
			t.Errorf("seed %d: %s\n%v", seed, c.Query, err)
		}
	}
}
