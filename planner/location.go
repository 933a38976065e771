package planner

import "time"

// Location is the time zone that the session options in force name.
func (p *Plan) Location() *time.Location {
	loc, err := timeZone(p.Options[OptTimeZone])
	if err != nil {
		return time.UTC // the value was checked when it was set
	}
	return loc
}
