package cluster

import (
	"encoding/binary"
	"errors"
)

// kind says what an item is.
type kind byte

const (
	frames   kind = iota + 1 // messages of a trial, both ways
	took                     // worker: it has a batch; data is a taken
	claim                    // worker: it begins a trial; data is a claimed
	start                    // coordinator: the trial runs; data is how much it is alone, a byte
	end                      // coordinator: the trial is over, or is not to be run
	printed                  // worker: what a plugin printed; the first byte is 1 if others may have
	beat                     // both: here I am
	offer                    // coordinator: the methods of a run; data is an offered
	ready                    // worker: what it says to an offer; data is a readied
	leave                    // worker: it goes; coordinator: there is no more work
	ask                      // coordinator: a call of a model that the worker serves; session is the call, and no data ends it
	told                     // worker: the answer to it
	unserved                 // coordinator: why a model that the worker serves is not used
)

// inObject marks an item whose data is in the object store, under the name that stands in
// its place.
const inObject kind = 0x80

// item is what packets carry. Data belongs to a session, or to none.
type item struct {
	kind    kind
	session uint64
	data    []byte
}

// maxItem is how large data may be to travel in a packet, in bytes, and packetSize when a
// packet is closed to further items. Both stay below the megabyte that NATS allows.
const (
	maxItem    = 256 << 10
	packetSize = 512 << 10
	// maxData bounds what travels by the object store.
	maxData = 80 << 20
)

// appendItem adds an item to a packet.
func appendItem(packet []byte, i item) []byte {
	packet = append(packet, byte(i.kind))
	packet = binary.AppendUvarint(packet, i.session)
	packet = binary.AppendUvarint(packet, uint64(len(i.data)))
	return append(packet, i.data...)
}

var errPacket = errors.New("a packet is cut off")

// items calls f with each item of a packet.
func items(packet []byte, f func(item) error) error {
	for len(packet) > 0 {
		i := item{kind: kind(packet[0])}
		var n int
		if i.session, n = binary.Uvarint(packet[1:]); n <= 0 {
			return errPacket
		}
		packet = packet[1+n:]
		size, n := binary.Uvarint(packet)
		if n <= 0 || size > uint64(len(packet)-n) {
			return errPacket
		}
		i.data, packet = packet[n:n+int(size)], packet[n+int(size):]
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}
