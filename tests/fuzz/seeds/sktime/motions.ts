# Two channels.
@problemName Motions
@timeStamps false
@univariate false
@dimensions 2
@classLabel true Rest Run
@data
1,2,3:10,?,30:Run
4, 5:40,50:Rest
6,7,?:60,70,?:?
