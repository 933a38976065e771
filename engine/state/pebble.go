package state

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// pebbleFormat is the version of Pebble's files. It is fixed, and raised only together with FormatVersion,
// so that an older binary refuses by name what it cannot read. From this one on a log says how far it was synced, so
// that damage is told from what a crash tore off.
const pebbleFormat = pebble.FormatWALSyncChunks

// tableFormat is the last one with blocks of rows: writing and merging the newer blocks of columns was measured to cost
// a quarter more.
const tableFormat = sstable.TableFormatPebblev4

// bufferPurposes are what takes a BufferShare each: what sources have fetched, what sinks have not been acknowledged,
// the input that shards stage, and an epoch's output.
const bufferPurposes = 4

// maxBufferShare is so much that more would not be used.
const maxBufferShare = 64 << 20

// BufferShare is what a job may take of the budget for each of four kinds of buffers outside the store: a sixteenth.
func BufferShare(budget int64) int64 { return min(budget/16, maxBufferShare) }

// shares divides the budget: an eighth for Pebble's block cache, a sixteenth for each of two memtables, as much for
// each of the buffers outside the store, the rest for the shards' hot, dirty and frozen memory. Without a budget everything is hot and the cache only
// serves compactions.
func shares(budget int64) (cache, memtable, hot int64) {
	if budget == 0 {
		return 8 << 20, maxMemtable, 0
	}
	cache = max(budget/8, 256<<10)
	memtable = min(max(budget/16, minMemtable), maxMemtable)
	return cache, memtable, max(budget-cache-2*memtable-bufferPurposes*BufferShare(budget), minHot)
}

// minHot is so little that tests with hardly any rows see them leave memory.
const minHot = 4 << 10

func (s *Store) pebbleOptions(cache, memtable int64) *pebble.Options {
	o := &pebble.Options{
		FS:                          stopFS{s.fs, s},
		ReadOnly:                    s.opts.ReadOnly,
		FormatMajorVersion:          pebbleFormat,
		CacheSize:                   cache,
		MemTableSize:                uint64(memtable),
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       l0Threshold,
		L0CompactionFileThreshold:   1 << 20, // a commit is one file: sublevels count, files do not
		L0StopWritesThreshold:       1 << 20, // a checkpoint never waits for a compaction
		LBaseMaxBytes:               1 << 30,
		DisableTableStats:           true,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 1 },
		Logger:                      pebbleLog{s},
		EventListener: &pebble.EventListener{
			// A flush or compaction failed. Pebble would try for ever, and stop taking commits in between.
			BackgroundError: func(err error) {
				_ = s.fail(err)
				s.compactions.stop()
			},
		},
	}
	o.Experimental.CompactionScheduler = s.compactions
	o.Experimental.EnableColumnarBlocks = func() bool { return false } // see tableFormat
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	for i := range o.Levels {
		o.Levels[i].BlockSize = 32 << 10
		o.TargetFileSizes[i] = 32 << 20
	}
	o.EnsureDefaults()
	return o
}

// A memtable is what small commits gather in before they become a table.
const (
	minMemtable = 256 << 10
	maxMemtable = 16 << 20
)

func tableWriterOptions(o *pebble.Options) sstable.WriterOptions {
	return o.MakeWriterOptions(0, tableFormat)
}

// pebbleLog is Pebble's logger. Pebble calls Fatalf where a write failed that it cannot undo, and expects
// the process to end there; the cause is recorded instead, and ends the job by way of the next call.
type pebbleLog struct{ s *Store }

func (l pebbleLog) Infof(string, ...any) {}

func (l pebbleLog) Errorf(format string, args ...any) {
	l.s.logf("state %s: %s", l.s.opts.Dir, fmt.Sprintf(format, args...))
}

func (l pebbleLog) Fatalf(format string, args ...any) {
	_ = l.s.fail(fmt.Errorf(format, args...))
}
