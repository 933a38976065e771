package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/sluicesql/sluice/internal/sqlfuzz"
)

func main() {
	count := flag.Uint64("n", 1000, "number of queries")
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "seed of the first")
	workers := flag.Int("workers", runtime.NumCPU(), "queries that run at a time")
	features := flag.String("features", "", "the parts of SQL to use, with commas; all that sluice supports when empty")
	dir := flag.String("out", "", "where scripts of failures go")
	reduce := flag.Int("reduce", 3000, "runs to reduce a failure with")
	failures := flag.Int("failures", 20, "end after so many failures")
	flag.Parse()
	if err := run(*count, *seed, *workers, *features, *dir, *reduce, *failures); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(count, seed uint64, workers int, features, dir string, reduce, failures int) error {
	has := sqlfuzz.For("duckdb")
	if features != "" {
		var err error
		if has, err = sqlfuzz.ParseFeatures(features); err != nil {
			return err
		}
	}
	fmt.Printf("seeds %d to %d\n", seed, seed+count-1)
	c := sqlfuzz.Campaign{
		From: seed, Count: count, Workers: workers, Features: has, Open: open,
		Out: os.Stdout, Progress: 10 * time.Second, Dir: dir, Reduce: reduce, MaxFailures: failures,
	}
	sum, err := c.Run()
	if err != nil {
		return err
	}
	fmt.Printf("%v\nseeds %d to %d, %s\n", &sum, seed, seed+count-1, sum.Elapsed.Round(time.Millisecond))
	if n := len(sum.Failures); n > 0 {
		return fmt.Errorf("%d queries failed", n)
	}
	return nil
}
