package state

import (
	"fmt"
	"runtime/debug"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// pebbleFormat is the version of Pebble's files. It is fixed, and raised only together with formatVersion,
// so that an older binary refuses by name what it cannot read.
const pebbleFormat = pebble.FormatFlushableIngestExcises

// shares divides the budget: an eighth for Pebble's block cache, a sixteenth for each of two memtables, the
// rest for the shards' hot, dirty and frozen memory. Without a budget everything is hot and the cache only
// serves compactions.
func shares(budget int64, shards int) (cache, memtable, shard int64) {
	if budget == 0 {
		return 8 << 20, 8 << 20, 0
	}
	cache = max(budget/8, 256<<10)
	memtable = min(max(budget/16, 256<<10), 8<<20)
	return cache, memtable, max((budget-cache-2*memtable)/int64(shards), 64<<10)
}

func pebbleOptions(fs vfs.FS, cache, memtable int64, log pebble.Logger) *pebble.Options {
	o := &pebble.Options{
		FS:                          fs,
		FormatMajorVersion:          pebbleFormat,
		CacheSize:                   cache,
		MemTableSize:                uint64(memtable),
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       l0Compaction,
		L0CompactionFileThreshold:   1 << 20, // a commit is one file: sublevels count, files do not
		L0StopWritesThreshold:       1 << 20, // a checkpoint never waits for a compaction
		LBaseMaxBytes:               1 << 30,
		DisableTableStats:           true,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 1 },
		Logger:                      log,
		EventListener:               &pebble.EventListener{},
	}
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	for i := range o.Levels {
		o.Levels[i].BlockSize = 32 << 10
		o.TargetFileSizes[i] = 32 << 20
	}
	o.EnsureDefaults()
	return o
}

const l0Compaction = 8

func tableWriterOptions(o *pebble.Options) sstable.WriterOptions {
	return o.MakeWriterOptions(0, pebbleFormat.MaxTableFormat())
}

// pebbleLog is Pebble's logger. Pebble calls Fatalf where a write failed that it cannot undo, and expects
// the process to end there; the cause is recorded instead, and ends the job by way of the next call.
type pebbleLog struct{ s *Store }

func (l pebbleLog) Infof(string, ...any) {}

func (l pebbleLog) Errorf(format string, args ...any) {
	l.s.logf("state %s: %s", l.s.opts.Dir, fmt.Sprintf(format, args...))
}

func (l pebbleLog) Fatalf(format string, args ...any) {
	l.s.fail(fmt.Errorf(format, args...))
	l.s.logf("state %s: %s\n%s", l.s.opts.Dir, fmt.Sprintf(format, args...), debug.Stack())
}
