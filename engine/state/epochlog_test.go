package state

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

func mustOpenLog(t *testing.T, fs FS, want ...string) *Log {
	t.Helper()
	l, entries, err := OpenLog(fs, "d")
	if err != nil {
		t.Fatal(err)
	}
	checkEntries(t, entries, want)
	return l
}

func checkEntries(t *testing.T, entries [][]byte, want []string) {
	t.Helper()
	var got []string
	for _, e := range entries {
		got = append(got, string(e))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("entries %.300q, want %.300q", got, want)
	}
}

func logFS(t *testing.T) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewCrashableMem()
	if err := makeDir(fs, "d"); err != nil {
		t.Fatal(err)
	}
	return fs
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLogAppendTruncateReopen(t *testing.T) {
	fs := logFS(t)
	l := mustOpenLog(t, fs)
	must(t, l.Append(1, []byte("one")))
	must(t, l.Append(2, nil))
	must(t, l.Append(5, []byte("five")))
	must(t, l.Close())
	l = mustOpenLog(t, fs, "one", "", "five")
	must(t, l.TruncateThrough(2))
	must(t, l.Close()) // notes it
	l = mustOpenLog(t, fs, "five")
	must(t, l.TruncateThrough(4)) // nothing, but 3 and 4 are past
	must(t, l.Append(6, []byte("six")))
	fs = fs.CrashClone(vfs.CrashCloneCfg{})
	l = mustOpenLog(t, fs, "five", "six")
	must(t, l.TruncateThrough(6))
	must(t, l.Append(7, []byte("seven")))
	fs = fs.CrashClone(vfs.CrashCloneCfg{})
	mustOpenLog(t, fs, "seven")
}

func TestLogRewritesWhenGrown(t *testing.T) {
	fs := logFS(t)
	l := mustOpenLog(t, fs)
	entry := strings.Repeat("x", 10_000)
	for seq := uint64(1); seq <= 1000; seq++ {
		must(t, l.Append(seq, []byte(entry)))
		if seq > 3 {
			must(t, l.TruncateThrough(seq-3))
		}
		if l.size > logRewrite+100_000 {
			t.Fatalf("the log holds three entries and has %d bytes", l.size)
		}
	}
	fs = fs.CrashClone(vfs.CrashCloneCfg{})
	l = mustOpenLog(t, fs, entry, entry, entry, entry) // the last truncation was not noted
	must(t, l.Close())
}

// Every prefix of the last record is a torn one; every flipped byte before it is damage.
func TestLogTornAndDamaged(t *testing.T) {
	fs := logFS(t)
	l := mustOpenLog(t, fs)
	must(t, l.Append(1, []byte("first")))
	must(t, l.Append(2, []byte("second")))
	last := int(l.size)
	must(t, l.Append(3, []byte("third")))
	size := l.size
	must(t, l.Close())
	f, err := fs.Open("d/" + logFile)
	must(t, err)
	whole, err := io.ReadAll(f)
	must(t, err)
	must(t, f.Close())
	whole = whole[:size]
	with := func(b []byte) FS {
		fs := logFS(t)
		must(t, writeFileSynced(fs, "d", logFile, bytes.Clone(b)))
		return fs
	}
	for n := last; n < len(whole); n++ {
		for _, tail := range [][]byte{nil, make([]byte, 50)} {
			fs := with(append(bytes.Clone(whole[:n]), tail...))
			l := mustOpenLog(t, fs, "first", "second")
			must(t, l.Append(3, []byte("again")))
			must(t, l.Close())
			must(t, mustOpenLog(t, fs, "first", "second", "again").Close())
		}
	}
	for i := range last {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		_, _, err := OpenLog(with(b), "d")
		if err == nil || !strings.Contains(err.Error(), "d/epochs.log") {
			t.Fatalf("flipped byte %d: %v", i, err)
		}
	}
}

func TestLogGolden(t *testing.T) {
	b := appendLogRecord([]byte(logHeader), 0, 7, nil)
	b = appendLogRecord(b, 8, 7, []byte("cut"))
	const want = "736c756963652065706f63687320310a" +
		"00000000ee9f29b800000000000000000700000000000000" +
		"0300000084ac091c08000000000000000700000000000000637574"
	if got := hex.EncodeToString(b); got != want {
		t.Fatalf("the log's format changed:\n%s\n%s", got, want)
	}
}

// File operation i fails, for every i until a run succeeds; what was appended before is there again.
func TestLogFailingOperations(t *testing.T) {
	for i := int32(0); ; i++ {
		fs := logFS(t)
		idx := errorfs.OnIndex(i)
		durable, err := appendSome(errorfs.Wrap(fs, writes(idx)))
		crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(uint64(i), 1))})
		_, entries, oerr := OpenLog(crashed, "d")
		if oerr != nil {
			t.Fatalf("operation %d failed, then: %v", i, oerr)
		}
		n := len(entries)
		if n == 0 && durable > 0 || n > 0 && string(entries[n-1]) != fmt.Sprint(durable) && string(entries[n-1]) != fmt.Sprint(durable+1) {
			t.Fatalf("operation %d failed after %d appends: %q", i, durable, entries)
		}
		if err == nil {
			if i < 20 {
				t.Fatalf("only %d operations", i)
			}
			return
		}
		if !strings.Contains(err.Error(), "d/epochs.log") {
			t.Fatalf("error without the file: %v", err)
		}
	}
}

// appendSome returns the last epoch of which Append returned without error.
func appendSome(fs FS) (durable int, err error) {
	l, _, err := OpenLog(fs, "d")
	if err != nil {
		return 0, err
	}
	for seq := 1; seq <= 12; seq++ {
		if err := l.Append(uint64(seq), []byte(fmt.Sprint(seq))); err != nil {
			return durable, err
		}
		durable = seq
		if seq%4 == 3 {
			l.size += logRewrite // as if grown
			l.room += logRewrite
			err := l.TruncateThrough(uint64(seq - 1))
			if err != nil {
				return durable, err
			}
		}
	}
	return durable, l.Close()
}

// writes lets an injector see only operations that change something, one at a time.
func writes(inj errorfs.Injector) errorfs.Injector {
	var mu sync.Mutex
	return errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			mu.Lock()
			defer mu.Unlock()
			return inj.MaybeError(op)
		}
		return nil
	})
}

func BenchmarkLogAppend(b *testing.B) {
	dir := b.TempDir()
	l, _, err := OpenLog(DefaultFS, dir)
	if err != nil {
		b.Fatal(err)
	}
	entry := make([]byte, 150)
	for i := range b.N {
		if err := l.Append(uint64(i+1), entry); err != nil {
			b.Fatal(err)
		}
		if i%100 == 99 {
			if err := l.TruncateThrough(uint64(i)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
