//go:build !linux && !darwin

package progress

// peakRSS is the largest resident memory of the process in bytes, or 0.
func peakRSS() int64 { return 0 }
