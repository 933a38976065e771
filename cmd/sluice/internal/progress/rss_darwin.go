package progress

import "syscall"

// peakRSS is the largest resident memory of the process in bytes, or 0.
func peakRSS() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss
}
