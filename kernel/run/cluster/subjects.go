package cluster

// up is the subject of a worker's packets, and down of those to it, over one link.
func (t Token) up(worker, link string) string   { return t.prefix() + ".up." + worker + "." + link }
func (t Token) down(worker, link string) string { return t.prefix() + ".down." + worker + "." + link }

// inbox begins the subjects of the answers to a worker.
func inbox(worker string) string { return "_INBOX." + worker }

// mayRead are the subjects that a worker may read: none of others.
func (t Token) mayRead(worker string) []string {
	return []string{t.prefix() + ".down." + worker + ".>", inbox(worker) + ".>"}
}

// mayPublish are the subjects that a worker may write to: to join, its packets, what
// takes batches from the queue, and the object stores that it needs.
func (t Token) mayPublish(worker string) []string {
	p := t.prefix()
	all := []string{
		p + ".join", p + ".up." + worker + ".>",
		"$JS.API.CONSUMER.INFO." + p + ".*", "$JS.API.CONSUMER.MSG.NEXT." + p + ".*", "$JS.ACK." + p + ".>",
	}
	for _, bucket := range []string{p + "-" + codeBucket, p + "-" + worker} {
		all = append(all, "$JS.API.STREAM.INFO.OBJ_"+bucket, "$JS.API.DIRECT.GET.OBJ_"+bucket+".>", "$JS.API.STREAM.MSG.GET.OBJ_"+bucket,
			"$JS.API.CONSUMER.CREATE.OBJ_"+bucket+".>", "$JS.API.CONSUMER.DELETE.OBJ_"+bucket+".>", "$JS.ACK.OBJ_"+bucket+".>")
	}
	own := p + "-" + worker
	return append(all, "$O."+own+".>", "$JS.API.STREAM.PURGE.OBJ_"+own, "$JS.FC.>")
}
