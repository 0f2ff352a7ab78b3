package cluster

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Token is the secret that a coordinator and its workers share. All keys are derived from
// it, and it is never sent.
type Token string

// minToken is the length of a token that a person chooses, in bytes: who connects can try
// tokens against the server's certificate.
const minToken = 16

// NewToken returns a random token.
func NewToken() Token { return Token(rand.Text()) }

// Check refuses a token that could be guessed.
func (t Token) Check() error {
	if len(t) < minToken {
		return fmt.Errorf("join token: it has %d characters, and needs at least %d: leave it out on the coordinator for a random one", len(t), minToken)
	}
	return nil
}

// key is a key of its own for each purpose.
func (t Token) key(purpose string) []byte {
	mac := hmac.New(sha256.New, []byte(t))
	mac.Write([]byte("noema cluster 1 " + purpose))
	return mac.Sum(nil)
}

// prefix begins the names of all subjects and streams of a cluster, so that several share
// a server.
func (t Token) prefix() string { return "noema-" + hex.EncodeToString(t.key("name")[:6]) }

// password is what a worker gives the embedded server.
func (t Token) password() string { return hex.EncodeToString(t.key("password")) }

// certificate is the server's, which a worker expects: its key comes from the token.
func (t Token) certificate() (tls.Certificate, error) {
	private := ed25519.NewKeyFromSeed(t.key("tls"))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "noema"},
		// A worker whose clock is wrong joins all the same: the key is what it checks.
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, nil
}

// serverTLS is what the embedded server presents.
func (t Token) serverTLS() (*tls.Config, error) {
	c, err := t.certificate()
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c}}, err
}

// clientTLS accepts the embedded server alone.
func (t Token) clientTLS() *tls.Config {
	want := ed25519.NewKeyFromSeed(t.key("tls")).Public().(ed25519.PublicKey)
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // no name and no date is to be checked, but the key, below
		VerifyConnection: func(s tls.ConnectionState) error {
			got, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
			if !ok || !want.Equal(got) {
				return errors.New("the server at this address has another join token, or is not noema")
			}
			return nil
		},
	}
}

// seal is a message behind its code, which only who has the key can make.
func seal(key []byte, message []byte) []byte {
	return append(mac(key, message), message...)
}

// macSize is the length of a message's code, in bytes.
const macSize = 16

func mac(key, message []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(message)
	return m.Sum(make([]byte, 0, sha256.Size))[:macSize]
}

// open returns a sealed message.
func open(key []byte, message []byte) ([]byte, error) {
	if len(message) < macSize || !hmac.Equal(message[:macSize], mac(key, message[macSize:])) {
		return nil, ErrForeign
	}
	return message[macSize:], nil
}
