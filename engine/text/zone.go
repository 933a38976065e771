package text

import "time"

// Offset is the offset from UTC in seconds that holds in tz at an instant, given in seconds since the epoch.
func Offset(tz *time.Location, unix int64) int64 {
	if tz == nil || tz == time.UTC {
		return 0
	}
	_, off := time.Unix(unix, 0).In(tz).Zone()
	return int64(off)
}

// ToInstant turns a local date and time, in seconds as if they were UTC, into the instant, in seconds since
// the epoch. Where the clock was set back and a local time happens twice it is the earlier instant; where
// the clock was set forward and a local time never happens, it is later by the gap, as in Java.
func ToInstant(tz *time.Location, local int64) int64 {
	if tz == nil || tz == time.UTC {
		return local
	}
	const day = 86400
	before, after := Offset(tz, local-day), Offset(tz, local+day)
	if before == after || Offset(tz, local-before) == before {
		return local - before
	}
	if Offset(tz, local-after) == after {
		return local - after
	}
	return local - before
}
