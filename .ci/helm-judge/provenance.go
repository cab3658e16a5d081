package main

import (
	"fmt"

	"helm.sh/helm/v3/pkg/provenance"
)

// Prints what `helm package --sign` writes beside the archive.
func sign(archive, keyring, name string) error {
	signer, err := provenance.NewFromKeyring(keyring, name)
	if err != nil {
		return err
	}
	text, err := signer.ClearSign(archive)
	if err != nil {
		return err
	}
	fmt.Print(text)
	return nil
}

// Fails where `helm verify` does, with what it says.
func verify(archive, file, keyring string) error {
	signer, err := provenance.NewFromKeyring(keyring, "")
	if err != nil {
		return err
	}
	_, err = signer.Verify(archive, file)
	return err
}
