"""A cross-encoder made on the spot: a real BERT with few weights, seeded, over a few words."""

from __future__ import annotations

import string
from pathlib import Path

WORDS = (
    *("ann", "bo", "odo", "pia", "user", "who", "owns", "a", "the", "boat", "lives", "in", "oslo"),
    *("where", "does", "live", "kite", "sold", "to", "yes", "?", ".", ":", ","),
)


def make(folder: Path, *, labels: int = 1, seed: int = 7) -> Path:
    """Save one in ``folder``; its raw outputs are spread over several units."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        PreTrainedTokenizerFast,
    )

    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    signs = (*string.ascii_lowercase, *string.digits)
    pieces = (*special, *WORDS, *signs, *(f"##{sign}" for sign in signs))
    ids = {piece: n for n, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, ids[name]) for name in ("[CLS]", "[SEP]")],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=48,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertForSequenceClassification(
            BertConfig(
                vocab_size=len(ids),
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=32,
                max_position_embeddings=48,
                initializer_range=0.7,
                num_labels=labels,
            )
        )
    model.save_pretrained(folder)
    return folder
