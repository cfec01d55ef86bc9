"""Plans made again in every slot by a forecast of prices."""
