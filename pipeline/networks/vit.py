"""The vision transformer (ViT, arXiv:2010.11929), small enough for a CPU."""

import torch
from torch import nn

from pipeline.networks.arguments import check_patch


class Block(nn.Module):
    """ViT's encoder block.

    Self-attention between tokens, then an MLP on each token, both after layer norm and
    beside an identity.

    Args:
        width: Width of a token.
        heads: Number of attention heads.
    """

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        # Queries, keys and values, each (N, heads, tokens, width per head).
        qkv = self.qkv(self.norm1(x)).unflatten(2, (3, self.heads, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attention = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        x = x + self.project((attention @ v).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    """ViT with a class token.

    Each patch of the input is embedded linearly, the embeddings of the patches'
    positions are added, and the read-out uses the class token after the last block.

    Positions start from N(0, 0.02²) and the class token from zero, as in the authors'
    code. Before training all patches are therefore alike: any permutation of them
    leaves the distribution of the weights unchanged.

    Args:
        channels: Number of input channels.
        outputs: Number of outputs.
        patch: Side of a patch in pixels.
        width: Width of a token.
        depth: Number of blocks.
        heads: Number of attention heads.
        side: Side of the input in pixels.
        position_std: Standard deviation of the positions before training.

    Raises:
        ValueError: The patches do not fill the side.
    """

    symmetry = "square"

    def __init__(
        self,
        channels,
        outputs,
        patch=4,
        width=128,
        depth=3,
        heads=4,
        side=32,
        position_std=0.02,
    ):
        super().__init__()
        check_patch(patch, side)
        self.embed = nn.Conv2d(channels, width, patch, stride=patch)
        tokens = 1 + (side // patch) ** 2
        self.positions = nn.Parameter(position_std * torch.randn(tokens, width))
        self.token = nn.Parameter(torch.zeros(width))
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, outputs)

    def forward(self, x):
        patches = self.embed(x).flatten(2).mT
        tokens = torch.cat([self.token.expand(len(x), 1, -1), patches], 1)
        return self.fc(self.norm(self.blocks(tokens + self.positions)[:, 0]))
