package plugins

import (
	"fmt"
	"time"
)

// Limits bound what the process of a plugin may take from the machine, with
// all the processes that it starts. A field that is zero stands for its
// default, a negative one for no limit. Where the operating system is not
// Linux only Output holds.
type Limits struct {
	Memory    int64         // resident bytes of all its processes together; the default is 4 GiB
	CPUTime   time.Duration // of one trial, over all its processes; the default is 30 min
	Processes int           // alive at once, itself included; the default is 64
	Files     int           // open descriptors of each process; the default is 1024
	Output    int64         // bytes written to stdout and stderr in one trial; the default is 64 MiB
}

// withDefaults fills in what is zero and makes what is unlimited zero.
func (l Limits) withDefaults() Limits {
	return Limits{
		Memory:    pick(l.Memory, 4<<30),
		CPUTime:   pick(l.CPUTime, 30*time.Minute),
		Processes: pick(l.Processes, 64),
		Files:     pick(l.Files, 1024),
		Output:    pick(l.Output, 64<<20),
	}
}

func pick[N int | int64 | time.Duration](given, standard N) N {
	if given == 0 {
		return standard
	}
	return max(given, 0)
}

// Usage is the most that a process of a plugin took, with those that it
// started; over several plugin processes, the most of any one.
type Usage struct {
	Memory    int64         // resident bytes
	CPUTime   time.Duration // of one process's life
	Processes int           // alive at once
}

// most is the greater of two usages, field by field.
func (u Usage) most(v Usage) Usage {
	return Usage{max(u.Memory, v.Memory), max(u.CPUTime, v.CPUTime), max(u.Processes, v.Processes)}
}

// size writes a number of bytes for people.
func size(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		one := int64(1) << (30 - 10*i)
		switch {
		case n >= one && n%one == 0:
			return fmt.Sprintf("%d %s", n/one, unit)
		case n >= one:
			return fmt.Sprintf("%.1f %s", float64(n)/float64(one), unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// excess says what of u is beyond the limits; empty if nothing is. trial is the
// CPU time of the trial under way.
func (l Limits) excess(u Usage, trial time.Duration) string {
	switch {
	case l.Memory > 0 && u.Memory > l.Memory:
		return fmt.Sprintf("used %s of memory, but the limit is %s", size(u.Memory), size(l.Memory))
	case l.CPUTime > 0 && trial > l.CPUTime:
		return fmt.Sprintf("used %v of CPU time in one trial, but the limit is %v", trial.Round(10*time.Millisecond), l.CPUTime)
	case l.Processes > 0 && u.Processes > l.Processes:
		return fmt.Sprintf("ran %d processes at once, but the limit is %d", u.Processes, l.Processes)
	}
	return ""
}
