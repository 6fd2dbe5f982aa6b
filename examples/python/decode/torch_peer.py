"""The decoder of decode.py in PyTorch: `generate` of transformers, with padding."""

import numpy
import torch
import transformers

from decode import HEAD


class Full(transformers.StoppingCriteria):
    """Stops generating a row when it has `most` tokens, not counting padding."""

    def __init__(self, padding, most):
        self.lengths = most + padding

    def __call__(self, tokens, scores, **others):
        return tokens.shape[1] >= self.lengths


class Decoder:
    def __init__(self, arrays):
        transformers.logging.set_verbosity_error()
        vocabulary, width = arrays["wte.weight"].shape
        # Spare positions are necessary, because the positions of finished rows increase while
        # other rows run.
        spare = numpy.zeros_like(arrays["wpe.weight"])
        arrays = {**arrays, "wpe.weight": numpy.concatenate([arrays["wpe.weight"], spare])}
        self.end = vocabulary - 1
        self.model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
            vocab_size=vocabulary, n_positions=len(arrays["wpe.weight"]), n_embd=width,
            n_layer=sum(name.endswith(".ln_1.bias") for name in arrays),
            n_head=width // HEAD, bos_token_id=self.end, eos_token_id=self.end)).eval()
        self.model.transformer.load_state_dict(
            {name: torch.from_numpy(array) for name, array in arrays.items()}, strict=False)

    def generate(self, prompts, counts):
        """Returns the tokens of all requests. The model receives the prompts padded on the left."""
        longest, most = int(counts.max()), prompts.shape[1]
        padding = longest - torch.from_numpy(counts)
        tokens = torch.full((len(prompts), longest), self.end)
        for row, prompt, count in zip(tokens, prompts, counts):
            row[longest - count:] = torch.from_numpy(prompt[:count])
        rows = self.model.generate(
            tokens, attention_mask=(torch.arange(longest) >= padding[:, None]).long(),
            do_sample=False, max_length=longest + most, pad_token_id=self.end,
            stopping_criteria=transformers.StoppingCriteriaList([Full(padding, most)]))
        return [self.cut(row[left:left + most].tolist(), count)
                for row, left, count in zip(rows, padding, counts)]

    def cut(self, tokens, count):
        """Returns the tokens of a request up to the first end token after the prompt, if any."""
        generated = tokens[count:]
        if self.end in generated:
            return tokens[:count + generated.index(self.end) + 1]
        return tokens
