# plots/timeline.gp: lanes over time. Before it come the measures in pixels (width, height, left, right, top, bottom,
# area), from and to in ms, the data blocks $idle, $boxes, $thin and $wide, labels, and the legend's words and colours.
set lmargin at screen left / width
set rmargin at screen 1 - right / width
set tmargin at screen 1 - top / height
set bmargin at screen bottom / height
set xrange [from:to]
set yrange [area:0]
unset ytics
set border 1 lc rgb '#666666'
set xtics nomirror out scale 0.6 tc rgb '#333333'
set mxtics 2
set grid xtics front lt 1 lw 0.5 lc rgb '#40808080'
set xlabel 'time (ms)' tc rgb '#333333' offset 0,0.3
set key at screen left / width, screen 22 / height left center horizontal Left reverse samplen 1.2 width 0 maxrows 1 font 'sans-serif,11'
set style fill solid 1 noborder

plot $idle using 1:2:3:4:5:6 with boxxyerror fs solid noborder lc rgb '#edf0f2' notitle, \
     $boxes using 1:2:3:4:5:6:7 with boxxyerror fs solid noborder lc rgb variable notitle, \
     $thin using 1:2:3:4:5:6 with boxxyerror fs transparent solid 0.45 noborder lc rgb '#e02020' notitle, \
     $wide using 1:2:3:4:5:6 with boxxyerror fs transparent solid 0.18 noborder lc rgb '#e02020' notitle, \
     $wide using 1:2:3:4:5:6 with boxxyerror fs transparent pattern 4 border rgb '#c81e1e' lc rgb '#c81e1e' notitle, \
     for [i = 1:kinds] keyentry with boxes fs solid noborder lc rgb colour[i] title word[i], \
     for [i = 1:exposed] keyentry with boxes fs transparent pattern 4 border rgb '#c81e1e' lc rgb '#c81e1e' title 'exposed communication', \
     keyentry with boxes fs solid noborder lc rgb '#dfe3e6' title 'idle'
