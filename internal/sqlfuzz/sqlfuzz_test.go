package sqlfuzz

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/oracle"
)

func TestTry(t *testing.T) {
	engine, err := oracle.OpenSQLite()
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(os.Getenv("N"))
	from, _ := strconv.Atoi(os.Getenv("SEED"))
	counts := map[Outcome]int{}
	start := time.Now()
	shown := 0
	for i := range n {
		r := Run(uint64(from+i), For("sqlite"), engine)
		counts[r.Outcome]++
		if r.Outcome != Agreed && shown < 15 {
			shown++
			t.Logf("seed %d: %v\n%s", r.Seed, r.Err, r.Text())
		}
	}
	t.Log(counts, time.Since(start))
}
