package realkafka

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestFetchJarsOnceForManyCallers(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int32
	fetch := func(_ context.Context, pom, libs string) error {
		calls.Add(1)
		if _, err := os.Stat(pom); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
		return os.Mkdir(libs, 0o755)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			libs, err := fetchJars(t.Context(), dir, "<project/>", fetch)
			if err != nil || libs != filepath.Join(dir, "libs") {
				t.Errorf("fetchJars = %q, %v", libs, err)
			}
		})
	}
	wg.Wait()
	if n := calls.Load(); n != 1 {
		t.Errorf("fetched %d times, want once", n)
	}
}

func TestFetchJarsAfterAnInterruptedFetch(t *testing.T) {
	dir := t.TempDir()
	interrupted := errors.New("interrupted")
	_, err := fetchJars(t.Context(), dir, "<project/>", func(_ context.Context, _, libs string) error {
		return errors.Join(os.Mkdir(libs, 0o755), os.WriteFile(filepath.Join(libs, "half.jar"), nil, 0o644), interrupted)
	})
	if !errors.Is(err, interrupted) {
		t.Fatalf("err = %v", err)
	}
	libs, err := fetchJars(t.Context(), dir, "<project/>", func(_ context.Context, _, libs string) error { return os.Mkdir(libs, 0o755) })
	if err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(libs, "half.jar")) {
		t.Error("what the interrupted fetch left was taken for complete")
	}
}

func TestLockFileGivesUpWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	if _, err := lockFile(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second lock: err = %v", err)
	}
	unlock()
	unlock, err = lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
