package cache

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"noema/cache/internal/kv"
	"noema/cache/internal/recordpb"
)

// TestFormatIsRaised: a change of what records hold raises kv.Format with its reason, so
// that an older noema says that it is too old instead of dropping what it does not know.
func TestFormatIsRaised(t *testing.T) {
	const knownFormat, known = 2, "a0db242af8c7ac39 cqvoesrtbl 1"
	d := protodesc.ToFileDescriptorProto(recordpb.File_cache_internal_recordpb_record_proto)
	d.SourceCodeInfo = nil
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	now := fmt.Sprintf("%.8x %s %d", sha256.Sum256(raw), prefixes, envelopeFormat)
	if now != known || kv.Format != knownFormat {
		t.Errorf("records are now %q in format %d; they were %q in format %d: if what they hold has changed, raise kv.Format, say why there, and write both here", now, kv.Format, known, knownFormat)
	}
}
