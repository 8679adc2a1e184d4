"""What models are told and asked: wording by version, and how it is put together."""
