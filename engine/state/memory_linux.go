package state

import "syscall"

// mapMemory gets n zeroed bytes from the operating system. They cost nothing until touched.
func mapMemory(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
}

// unmapMemory gives back what mapMemory returned.
func unmapMemory(b []byte) error { return syscall.Munmap(b) }

// adviseHuge asks for huge pages: random access to hundreds of megabytes otherwise pays for a TLB miss on
// nearly every touch. It is advice; a kernel that knows no huge pages refuses it without harm.
func adviseHuge(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }

// releaseMemory returns the pages of b to the operating system; they read as zero afterwards.
func releaseMemory(b []byte) { _ = syscall.Madvise(b, syscall.MADV_DONTNEED) }
