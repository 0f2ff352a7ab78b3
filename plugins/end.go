package plugins

import "cmp"

// end kills the process with all its kin. The first verdict counts; an empty
// one only gets rid of the process.
func (c *child) end(verdict string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended, c.verdict = true, verdict
	if c.cmd != nil && c.cmd.Process != nil {
		c.killKin()
	}
}

// endForAll ends the process because all plugins together use too much.
func (c *child) endForAll(verdict string) {
	c.mu.Lock()
	c.forAll = !c.ended
	c.mu.Unlock()
	c.end(verdict)
}

// spare marks the process of a trial's last attempt.
func (c *child) spare() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = true
}

// spared reports whether it is marked so.
func (c *child) spared() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// endedForAll reports whether endForAll ended it.
func (c *child) endedForAll() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forAll
}

// blame ends the process for what it wrote. The verdict counts also if the
// process has ended by itself meanwhile.
func (c *child) blame(fault string) {
	c.end(fault)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.verdict = cmp.Or(c.verdict, fault)
}

// terminate sends the process a SIGTERM.
func (c *child) terminate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		terminate(c.cmd.Process.Pid)
	}
}

// killKin kills what the process started, and itself.
func (c *child) killKin() { killTree(c.cmd.Process.Pid, c.dir, c.cage) }
