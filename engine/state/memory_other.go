//go:build !unix || aix || solaris

package state

// Where there is no anonymous mapping, the memory is one pointer-free allocation of the Go heap, which
// the garbage collector counts but does not scan.
func mapMemory(n int) ([]byte, error) { return make([]byte, n), nil }

func unmapMemory([]byte) error { return nil }

func adviseHuge([]byte) {}

func releaseMemory([]byte) {}
