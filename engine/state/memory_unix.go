//go:build unix && !linux && !aix && !solaris

package state

import "syscall"

func mapMemory(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func unmapMemory(b []byte) error { return syscall.Munmap(b) }

// Huge pages and early return of pages are Linux's; elsewhere the memory is merely kept for reuse.
func adviseHuge([]byte) {}

func releaseMemory([]byte) {}
